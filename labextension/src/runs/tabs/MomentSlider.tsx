// Slider that selects one of the recorded moments of a run; by default the last.

import { useState } from 'react';
import { formatCount } from '../../ui/number-format';
import type { Translator } from '../../ui/translator';

/** Selected moment and a function that selects another; null is the last, also when new ones arrive. */
export function useMoment<T extends { readonly step: number }>(
  moments: readonly T[]
): { moment: T | undefined; at: number; choose: (at: number | null) => void } {
  const [step, setStep] = useState<number | null>(null);
  // found by its step, since moments are thinned out during a run
  let at = moments.length - 1;
  while (step !== null && at > 0 && moments[at].step > step) {
    at--;
  }
  return {
    moment: moments[at],
    at,
    choose: next =>
      setStep(
        next === null || next >= moments.length - 1 ? null : moments[next].step
      )
  };
}

export interface MomentSliderProps {
  moments: readonly { readonly step: number; readonly epoch?: number }[];
  at: number;
  choose: (at: number | null) => void;
  trans: Translator;
}

export function MomentSlider(props: MomentSliderProps): JSX.Element | null {
  const { moments, at, choose, trans } = props;
  const moment = moments[at];
  if (!moment) {
    return null;
  }
  const where =
    moment.epoch === undefined
      ? trans.__('After step %1', formatCount(moment.step))
      : trans.__(
          'After epoch %1, step %2',
          formatCount(moment.epoch),
          formatCount(moment.step)
        );
  return (
    <div className="labdl-moment">
      <input
        type="range"
        min={0}
        max={Math.max(0, moments.length - 1)}
        step={1}
        value={at}
        disabled={moments.length < 2}
        aria-label={trans.__('Point in the training')}
        aria-valuetext={where}
        onChange={event => choose(Number(event.target.value))}
      />
      <span className="labdl-moment-text">{where}</span>
      <button
        type="button"
        className="labdl-dashboard-small"
        disabled={at === moments.length - 1}
        onClick={() => choose(null)}
      >
        {trans.__('Latest')}
      </button>
    </div>
  );
}
