// Geometry of a heat map of histograms over time, without drawing: positions and contents of cells.

import type { Spread } from '../store/histograms';

export interface HeatColumn {
  readonly step: number;
  readonly spread: Spread;
}

/** Cell in fractions of the map's width and height; values increase upwards. */
export interface HeatCell {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly share: number;
}

export interface HeatMapData {
  readonly low: number;
  readonly high: number;
  /** Largest fraction in a cell. */
  readonly most: number;
  /** Borders of the columns, one more than columns, from 0 to 1. */
  readonly borders: readonly number[];
  readonly cells: readonly HeatCell[];
}

/** Content of the map under the pointer. */
export interface HeatPoint {
  readonly step: number;
  readonly low: number;
  readonly high: number;
  readonly share: number;
}

export function heatMap(columns: readonly HeatColumn[]): HeatMapData {
  let low = Infinity;
  let high = -Infinity;
  for (const { spread } of columns) {
    low = Math.min(low, spread.low);
    high = Math.max(high, spread.high);
  }
  if (low === high) {
    // a single value, such as biases before the first step, is drawn in the middle
    const room = Math.abs(low) * 0.1 || 0.5;
    low -= room;
    high += room;
  }
  const borders = bordersOf(columns.map(({ step }) => step));
  const height = (value: number) => 1 - (value - low) / (high - low);
  const cells: HeatCell[] = [];
  let most = 0;
  columns.forEach(({ spread }, column) => {
    const all = spread.counts.reduce((sum, count) => sum + count, 0);
    spread.counts.forEach((count, part) => {
      const share = all ? count / all : 0;
      most = Math.max(most, share);
      cells.push({
        left: borders[column],
        right: borders[column + 1],
        top: height(edge(spread, part + 1)),
        bottom: height(edge(spread, part)),
        share
      });
    });
  });
  return { low, high, most, borders, cells };
}

/** Content at these fractions of width and height; null where there are no values. */
export function pointAt(
  columns: readonly HeatColumn[],
  { low, high, borders }: HeatMapData,
  across: number,
  down: number
): (HeatPoint & { readonly column: number }) | null {
  const column = Math.min(
    columns.length - 1,
    Math.max(0, borders.findIndex(border => border > across) - 1)
  );
  const found = columns[column];
  if (!found) {
    return null;
  }
  const { step, spread } = found;
  const value = high - down * (high - low);
  const width = spread.high - spread.low;
  // a single value has no height: accept the pointer near it
  const isNear =
    width === 0 && Math.abs(value - spread.low) < (high - low) / 30;
  const inside = value >= spread.low && value <= spread.high;
  const all = spread.counts.reduce((sum, count) => sum + count, 0);
  if ((!inside && !isNear) || !all) {
    return { column, step, low: value, high: value, share: 0 };
  }
  const parts = spread.counts.length;
  const part = width
    ? Math.min(parts - 1, Math.floor(((value - spread.low) / width) * parts))
    : spread.counts.indexOf(Math.max(...spread.counts));
  return {
    column,
    step,
    low: edge(spread, part),
    high: edge(spread, part + 1),
    share: spread.counts[part] / all
  };
}

function edge({ low, high, counts }: Spread, part: number): number {
  return low + ((high - low) * part) / counts.length;
}

/** Column borders halfway between adjacent steps. */
function bordersOf(steps: readonly number[]): number[] {
  const count = steps.length;
  if (count < 2) {
    return [0, 1];
  }
  const between = steps.slice(1).map((step, i) => (steps[i] + step) / 2);
  const first = steps[0] - (between[0] - steps[0]);
  const last = steps[count - 1] + (steps[count - 1] - between[count - 2]);
  return [first, ...between, last].map(x => (x - first) / (last - first));
}
