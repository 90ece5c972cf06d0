// What "Use in training" has done: the model that trains on the data set, or the code that does.

import { useState } from 'react';
import type { SavedPipeline, SplitCount } from '../api/data';
import { CopyButton } from '../ui/CopyButton';
import { IconButton } from '../ui/Icon';
import type { Translator } from '../ui/translator';
import type { ChosenModel } from './host';
import { splitText } from './SplitChoice';

export interface Used {
  saved: SavedPipeline;
  /** Undefined where the host has no training; null where no model is open. */
  model: ChosenModel | null | undefined;
}

interface UseInTrainingProps {
  used: Used;
  /** Parts of the data set, all of which are used. */
  splits: readonly SplitCount[];
  onClose: () => void;
  trans: Translator;
}

export function UseInTraining(props: UseInTrainingProps): JSX.Element {
  const { used, splits, onClose, trans } = props;
  const { saved, model } = used;
  const [showsCode, setShowsCode] = useState(!model);
  return (
    <section
      className="labdl-data-used"
      aria-label={trans.__('Use in training')}
    >
      <div className="labdl-data-bar">
        <p role="status">
          {model
            ? trans.__('%1 trains on this data set now.', model.name)
            : model === null
              ? trans.__(
                  'No model is open. Open one and press the button again, or use this code.'
                )
              : trans.__(
                  'This code trains on the data set with its transforms.'
                )}{' '}
          <span className="labdl-data-quiet">
            {[
              trans.__('Input: %1', shapeText(saved.input_shape)),
              saved.target,
              splits.map(split => splitText(split, trans)).join(', '),
              saved.path && trans.__('Saved as %1', saved.path)
            ]
              .filter(Boolean)
              .join(' · ')}
          </span>
        </p>
        <span className="labdl-data-buttons">
          {model && (
            <button
              type="button"
              aria-expanded={showsCode}
              onClick={() => setShowsCode(!showsCode)}
            >
              {showsCode ? trans.__('Hide code') : trans.__('Show code')}
            </button>
          )}
          {showsCode && (
            <CopyButton
              label={trans.__('Copy the code')}
              text={() => saved.code}
              trans={trans}
            />
          )}
          <IconButton
            icon="close"
            label={trans.__('Close')}
            onClick={onClose}
          />
        </span>
      </div>
      {showsCode && (
        <pre tabIndex={0} aria-label={trans.__('Python code')}>
          {saved.code}
        </pre>
      )}
    </section>
  );
}

/** As in "3 × 224 × 224": the axis of the batch is left out. */
function shapeText(shape: SavedPipeline['input_shape']): string {
  return shape
    .slice(1)
    .map(size => size ?? '?')
    .join(' × ');
}
