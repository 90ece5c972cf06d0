// What stands below the curves: steps, epochs or the time trained. Curves are kept by steps.

import type { Clock } from '../store/clock';
import { formatCount, formatDuration } from '../../ui/number-format';

export const X_AXES = ['step', 'epoch', 'time'] as const;
export type XAxisName = (typeof X_AXES)[number];

export interface XAxis {
  readonly name: XAxisName;
  /** Where a step stands on the axis, and the step that stands somewhere. */
  of(step: number): number;
  stepAt(place: number): number;
  /** A place as a tick says it; empty for what is not worth one. */
  tick(place: number): string;
}

export const STEPS: XAxis = {
  name: 'step',
  of: step => step,
  stepAt: place => place,
  tick: place => (place % 1 ? '' : formatCount(place))
};

/** The axis of that name, or steps where a run does not have it. */
export function xAxis(
  name: XAxisName,
  clock: Clock,
  stepsPerEpoch: number | null
): XAxis {
  if (name === 'epoch' && stepsPerEpoch) {
    return {
      name,
      of: step => step / stepsPerEpoch,
      stepAt: place => place * stepsPerEpoch,
      tick: place => String(Number(place.toPrecision(4)))
    };
  }
  if (name === 'time') {
    return {
      name,
      of: step => clock.timeOf(step),
      stepAt: place => clock.stepAt(place),
      tick: place =>
        place % 1 ? `${Number(place.toPrecision(3))} s` : formatDuration(place)
    };
  }
  return STEPS;
}
