// Selected ranges of axes, and filtering of runs by them.

import type { Axis } from './axes';
import type { Brief } from './runs-source';

/** Low and high end of a range, as positions on the axis. */
export type Range = readonly [number, number];
export type Brushes = ReadonlyMap<string, Range>;

export const NO_BRUSHES: Brushes = new Map();
/** Distance by which a key moves an end. */
const STEP = 0.05;
/** Tolerance, so that rounding does not exclude a run at the end of a range. */
const SLACK = 1e-6;

export function isInside(
  run: Brief,
  axes: readonly Axis[],
  brushes: Brushes
): boolean {
  return axes.every(axis => {
    const range = brushes.get(axis.id);
    if (!range) {
      return true;
    }
    const place = axis.place(run);
    return (
      place !== null && place >= range[0] - SLACK && place <= range[1] + SLACK
    );
  });
}

/** Ranges with that of one axis replaced; null removes it. */
export function filterByBrushes(
  brushes: Brushes,
  id: string,
  range: Range | null
): Brushes {
  const next = new Map(brushes);
  if (range) {
    const [a, b] = range.map(place => Math.min(1, Math.max(0, place)));
    next.set(id, [Math.min(a, b), Math.max(a, b)]);
  } else {
    next.delete(id);
  }
  return next;
}

/** Range after a key: arrows move the upper end, with Shift the lower one. Undefined for other keys. */
export function rangeAfter(
  range: Range | undefined,
  key: string,
  withShift: boolean
): Range | null | undefined {
  const by = { ArrowUp: STEP, ArrowDown: -STEP }[key];
  if (by === undefined) {
    return key === 'Escape' || key === 'Delete' ? null : undefined;
  }
  const [low, high] = range ?? [0, 1];
  return withShift
    ? [Math.max(0, Math.min(high, low + by)), high]
    : [low, Math.min(1, Math.max(low, high + by))];
}
