// A sample in the grid: its picture, sound or text, and its label.

import { memo } from 'react';
import type { SampleView } from '../../api/data';
import { Icon } from '../../ui/Icon';
import type { Translator } from '../../ui/translator';
import { mainPart, Part } from '../parts/Part';
import { colorOf } from '../parts/label-colors';
import { problemText } from '../problem-text';

interface SampleTileProps {
  /** Undefined until it has arrived. */
  sample: SampleView | undefined;
  position: number;
  isFocusable: boolean;
  /** Boxes have their labels where there is room. */
  showsLabels: boolean;
  classes: readonly string[];
  onOpen: (position: number) => void;
  onFocus: (position: number) => void;
  trans: Translator;
}

export const SampleTile = memo(function SampleTile(
  props: SampleTileProps
): JSX.Element {
  const { sample, position, classes, trans } = props;
  const part = sample && mainPart(sample.parts);
  const problem = sample?.problem && problemText(trans, sample.problem);
  const words = !sample
    ? trans.__('Sample %1', position + 1)
    : problem
      ? trans.__('%1: %2', sample.name, problem)
      : sample.label
        ? trans.__('%1: %2', sample.name, sample.label)
        : sample.name;
  return (
    <button
      type="button"
      className="labdl-data-tile"
      data-tile={position}
      data-state={!sample ? 'waits' : problem ? 'broken' : undefined}
      aria-label={words}
      title={words}
      tabIndex={props.isFocusable ? 0 : -1}
      onClick={() => props.onOpen(position)}
      onFocus={() => props.onFocus(position)}
    >
      <span className="labdl-data-tile-face">
        {problem ? (
          <span className="labdl-data-tile-problem">
            <Icon name="warning" />
            <span>{problem}</span>
          </span>
        ) : (
          sample &&
          part && (
            <Part
              part={part}
              alt=""
              classes={classes}
              isTile
              showsLabels={props.showsLabels}
              trans={trans}
            />
          )
        )}
      </span>
      <span className="labdl-data-tile-words">
        {sample?.label && (
          <span
            className="labdl-data-dot"
            data-hue={colorOf(sample.label, classes)}
          />
        )}
        <span>{sample ? sample.label || sample.name : '\u00a0'}</span>
      </span>
    </button>
  );
});
