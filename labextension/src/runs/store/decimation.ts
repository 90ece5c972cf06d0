// Reduces points for drawing with the same outline: minimum and maximum of each bucket.

/**
 * Indices of at most `limit` points of `y` within [from, to), in order. The first, the last, and the minimum and
 * maximum of each bucket are kept; a bucket without finite values keeps one point, so that its gap is drawn.
 */
export function decimate(
  y: ArrayLike<number>,
  from: number,
  to: number,
  limit: number
): Uint32Array {
  const count = Math.max(0, to - from);
  if (count <= limit || limit < 4) {
    return Uint32Array.from({ length: count }, (_, i) => from + i);
  }
  const buckets = Math.floor((limit - 2) / 2);
  const inner = count - 2;
  const kept: number[] = [from];
  for (let bucket = 0; bucket < buckets; bucket++) {
    const begin = from + 1 + Math.floor((bucket * inner) / buckets);
    const end = from + 1 + Math.floor(((bucket + 1) * inner) / buckets);
    let lowest = -1;
    let highest = -1;
    for (let i = begin; i < end; i++) {
      if (!Number.isFinite(y[i])) {
        continue;
      }
      if (lowest < 0 || y[i] < y[lowest]) {
        lowest = i;
      }
      if (highest < 0 || y[i] > y[highest]) {
        highest = i;
      }
    }
    if (lowest < 0) {
      kept.push(begin);
    } else if (lowest === highest) {
      kept.push(lowest);
    } else {
      kept.push(Math.min(lowest, highest), Math.max(lowest, highest));
    }
  }
  kept.push(to - 1);
  return Uint32Array.from(kept);
}

export interface Curve {
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
}

/** Aligned table of several curves for uPlot: null is a gap, undefined means "no point of this curve here". */
export type Aligned = [number[], ...(number | null | undefined)[][]];

export function align(curves: readonly Curve[]): Aligned {
  const x: number[] = [];
  const columns: (number | null | undefined)[][] = curves.map(() => []);
  const at = curves.map(() => 0);
  for (;;) {
    let next = Infinity;
    curves.forEach((curve, c) => {
      if (at[c] < curve.x.length) {
        next = Math.min(next, curve.x[at[c]]);
      }
    });
    if (next === Infinity) {
      return [x, ...columns];
    }
    x.push(next);
    curves.forEach((curve, c) => {
      if (at[c] < curve.x.length && curve.x[at[c]] === next) {
        const value = curve.y[at[c]++];
        columns[c].push(Number.isFinite(value) ? value : null);
      } else {
        columns[c].push(undefined);
      }
    });
  }
}

/** Outline of a curve: one point for each column, with its range from `low` to `high`. */
export interface Outline {
  readonly x: number[];
  readonly low: number[];
  readonly high: number[];
  /** Value of another curve with the same x at the end of each column. */
  readonly line: number[];
}

/** Outline of the points within [from, to) with this number of columns; NaN where a column has no finite value. */
export function outline(
  curve: Curve,
  line: ArrayLike<number>,
  [from, to]: readonly [number, number],
  columns: number
): Outline {
  const { x, y } = curve;
  const found: Outline = { x: [], low: [], high: [], line: [] };
  const count = to - from;
  for (let column = 0; column < columns; column++) {
    const begin = from + Math.floor((column * count) / columns);
    const end = from + Math.floor(((column + 1) * count) / columns);
    let low = Infinity;
    let high = -Infinity;
    let last = NaN;
    for (let i = begin; i < end; i++) {
      const value = y[i];
      if (value < low) {
        low = value;
      }
      if (value > high) {
        high = value;
      }
      if (line[i] === line[i]) {
        last = line[i];
      }
    }
    found.x.push(x[column === columns - 1 ? end - 1 : (begin + end - 1) >> 1]);
    found.low.push(low === Infinity ? NaN : low);
    found.high.push(high === -Infinity ? NaN : high);
    found.line.push(last);
  }
  return found;
}
