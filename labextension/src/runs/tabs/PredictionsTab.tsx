// Predictions for the same few validation samples, epoch by epoch.

import { useMemo } from 'react';
import { formatCount } from '../../ui/number-format';
import type { Translator } from '../../ui/translator';
import type { TabProps } from '.';
import { EmptyState } from '../../ui/EmptyState';
import { isRight } from './correctness';
import { MomentSlider, useMoment } from './MomentSlider';
import { SampleCard } from './SampleCard';

export function PredictionsTab({ view, trans }: TabProps): JSX.Element {
  const { samples, predictions, classes } = view.validation;
  const { moment, at, choose } = useMoment(predictions);
  const verdicts = useMemo(
    () =>
      samples.map(({ target }, place) =>
        isRight(target, moment?.outputs[place])
      ),
    [samples, moment]
  );
  if (!samples.length) {
    return (
      <EmptyState>
        {trans.__(
          'Validation samples and the model’s predictions appear here after the first epoch of a training with validation data.'
        )}
      </EmptyState>
    );
  }
  return (
    <div className="labdl-predictions">
      <div className="labdl-tab-tools">
        <MomentSlider
          moments={predictions}
          at={at}
          choose={choose}
          trans={trans}
        />
        <span className="labdl-tab-note">
          {moment
            ? verdictWords(verdicts, trans)
            : trans.__('The first predictions come after the first epoch.')}
        </span>
      </div>
      <ul className="labdl-samples">
        {samples.map((sample, place) => (
          <SampleCard
            key={place}
            sample={sample}
            output={moment?.outputs[place]}
            classes={classes}
            trans={trans}
          />
        ))}
      </ul>
    </div>
  );
}

function verdictWords(
  verdicts: readonly (boolean | null)[],
  trans: Translator
): string {
  const judged = verdicts.filter(verdict => verdict !== null);
  const right = judged.filter(Boolean).length;
  return judged.length
    ? trans.__('%1 of %2 right', formatCount(right), formatCount(judged.length))
    : '';
}
