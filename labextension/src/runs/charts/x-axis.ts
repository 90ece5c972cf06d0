// Horizontal axes of charts: steps, epochs or training time. Curves are stored by step.

import type { Clock } from '../store/clock';
import { formatCount, formatDuration } from '../../ui/number-format';

export const X_AXES = ['step', 'epoch', 'time'] as const;
export type XAxisName = (typeof X_AXES)[number];

export interface XAxis {
  readonly name: XAxisName;
  /** Position of a step on the axis; `stepAt` is the inverse. */
  of(step: number): number;
  stepAt(place: number): number;
  /** Label of a position; empty if it gets none. */
  tick(place: number): string;
}

export const STEPS: XAxis = {
  name: 'step',
  of: step => step,
  stepAt: place => place,
  tick: place => (place % 1 ? '' : formatCount(place))
};

/** Axis of that name, or steps where a run does not have it. */
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
