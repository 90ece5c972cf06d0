// Head of the view: name, kind and numbers of the data set, and what can be done with it.

import type { RefObject } from 'react';
import type { DatasetSummary } from '../api/data';
import { CopyButton } from '../ui/CopyButton';
import { formatCount } from '../ui/number-format';
import type { Translator } from '../ui/translator';
import { SplitChoice } from './SplitChoice';
import type { PipelineEditing } from './usePipeline';

interface DataHeaderProps {
  summary: DatasetSummary;
  pipeline: PipelineEditing;
  /** The chosen part of a data set with parts. */
  split: string;
  onSplit: (split: string) => void;
  /** Takes the focus when what it did is closed. */
  trainButton: RefObject<HTMLButtonElement>;
  trans: Translator;
}

export function DataHeader(props: DataHeaderProps): JSX.Element {
  const { summary, pipeline, trans } = props;
  const { name, kind, samples, classes, entries, splits = [] } = summary;
  const facts = [
    trans._n('%2 sample', '%2 samples', samples, formatCount(samples)),
    classes &&
      trans._n(
        '%2 class',
        '%2 classes',
        classes.length,
        formatCount(classes.length)
      )
  ].filter(Boolean);
  return (
    <header className="labdl-data-header">
      <div>
        <h2 title={name}>{name}</h2>
        <span className="labdl-data-kind">{kind}</span>
        <span className="labdl-data-quiet">{facts.join(' · ')}</span>
        <span className="labdl-data-quiet labdl-data-entries">
          {entries.map(entry => (
            <span
              key={entry.name}
              title={`${entry.name}: ${entry.kind}, ${entry.description}`}
            >
              {entry.name}
            </span>
          ))}
        </span>
      </div>
      {splits.length > 0 && (
        <SplitChoice
          splits={splits}
          chosen={props.split}
          onChoose={props.onSplit}
          trans={trans}
        />
      )}
      <span className="labdl-data-buttons">
        {summary.code && (
          <CopyButton
            label={trans.__('Copy code')}
            text={() => summary.code}
            trans={trans}
          />
        )}
        <button
          type="button"
          title={
            summary.pipeline_file === null
              ? trans.__(
                  'Keep the steps as the attribute “pipeline” of the view'
                )
              : trans.__('Save the steps to %1', summary.pipeline_file)
          }
          disabled={!pipeline.isChanged || pipeline.isSaving}
          onClick={pipeline.save}
        >
          {pipeline.isChanged ? trans.__('Save') : trans.__('Saved')}
        </button>
        <button
          type="button"
          ref={props.trainButton}
          className="labdl-data-accept"
          disabled={samples === 0}
          onClick={pipeline.train}
        >
          {trans.__('Use in training')}
        </button>
      </span>
    </header>
  );
}
