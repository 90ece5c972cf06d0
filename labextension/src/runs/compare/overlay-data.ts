// Curves of several runs as the columns of one chart: single runs, or mean and range of each group.

import { lowerBound } from '../store/column';
import { align, decimate, type Curve } from '../store/decimation';
import type { Smoothing } from '../store/smoothing';
import type { Across } from './curves';
import type { CurvesByPath } from './useCurves';

export type Part = 'train' | 'validation' | 'both';

export interface OverlaySettings {
  readonly across: Across;
  readonly part: Part;
  readonly smoothing: Smoothing;
  readonly isLog: boolean;
}

export interface OverlayLine {
  /** Path of a run or name of a group; it determines the style. */
  readonly owner: string;
  readonly role: 'train' | 'validation' | 'low' | 'high';
  readonly curve: Curve;
}

/** Maximum number of points over all lines of a chart, and of the grid on which groups are averaged. */
const POINTS = 12_000;
const FEWEST = 160;
const GRID = 240;

/** Lines of one metric, such as "loss", of these runs. */
export function runLines(
  curves: CurvesByPath,
  paths: readonly string[],
  figure: string,
  settings: OverlaySettings
): OverlayLine[] {
  const { across, part, smoothing } = settings;
  return paths.flatMap(path => {
    const run = curves.get(path);
    return (['train', 'validation'] as const).flatMap(role => {
      if (!run || (part !== 'both' && part !== role)) {
        return [];
      }
      const name = role === 'train' ? figure : `val_${figure}`;
      const curve = run.curve(name, across, smoothing);
      return curve ? [{ owner: path, role, curve }] : [];
    });
  });
}

/** Mean of each group with its minimum and maximum. */
export function groupLines(
  lines: readonly OverlayLine[],
  groupOf: ReadonlyMap<string, string>
): OverlayLine[] {
  const members = new Map<string, OverlayLine[]>();
  for (const line of lines) {
    const key = `${line.role}\n${groupOf.get(line.owner) ?? ''}`;
    members.set(key, [...(members.get(key) ?? []), line]);
  }
  return [...members].flatMap(([key, group]) => {
    const [role, owner] = key.split('\n') as ['train' | 'validation', string];
    const { x, mean, low, high } = spread(group.map(({ curve }) => curve));
    const line = (role: OverlayLine['role'], y: number[]): OverlayLine => ({
      owner,
      role,
      curve: { x, y }
    });
    return group.length > 1
      ? [line(role, mean), line('low', low), line('high', high)]
      : [line(role, mean)];
  });
}

/** Mean and range of curves on a common grid, interpolated linearly. */
export function spread(curves: readonly Curve[]): {
  x: number[];
  mean: number[];
  low: number[];
  high: number[];
} {
  const from = Math.min(...curves.map(({ x }) => x[0]));
  const to = Math.max(...curves.map(({ x }) => x[x.length - 1]));
  const longest = Math.max(...curves.map(({ x }) => x.length));
  const count = from === to ? 1 : Math.max(2, Math.min(GRID, longest));
  const found = { x: [], mean: [], low: [], high: [] } as ReturnType<
    typeof spread
  >;
  for (let i = 0; i < count; i++) {
    const x = count === 1 ? from : from + ((to - from) * i) / (count - 1);
    const values = curves
      .map(curve => valueAt(curve, x))
      .filter(Number.isFinite);
    found.x.push(x);
    found.mean.push(
      values.length ? values.reduce((a, b) => a + b) / values.length : NaN
    );
    found.low.push(values.length ? Math.min(...values) : NaN);
    found.high.push(values.length ? Math.max(...values) : NaN);
  }
  return found;
}

/** Value of a curve by linear interpolation; NaN outside of it. */
export function valueAt({ x, y }: Curve, at: number): number {
  const after = lowerBound(x, at);
  if (after < x.length && x[after] === at) {
    return y[after];
  }
  if (after === 0 || after === x.length) {
    // rounding may put the last grid point behind the end
    return after > 0 && Math.abs(x[after - 1] - at) <= 1e-9 * Math.abs(at)
      ? y[after - 1]
      : NaN;
  }
  const part = (at - x[after - 1]) / (x[after] - x[after - 1]);
  return y[after - 1] + part * (y[after] - y[after - 1]);
}

/** Aligned columns for the chart, thinned by the number of lines; within a window only the visible points. */
export function table(
  lines: readonly OverlayLine[],
  window: readonly [number, number] | null,
  isLog: boolean
): ArrayLike<number | null | undefined>[] {
  const limit = Math.max(
    FEWEST,
    Math.floor(POINTS / Math.max(1, lines.length))
  );
  const [min, max] = window ?? [-Infinity, Infinity];
  return align(
    lines.map(({ curve: { x, y } }) => {
      const from = Math.max(0, lowerBound(x, min) - 1);
      const to = Math.min(x.length, lowerBound(x, max) + 2);
      const kept = decimate(y, from, to, limit);
      return {
        x: Array.from(kept, i => x[i]),
        y: Array.from(kept, i => (isLog && !(y[i] > 0) ? NaN : y[i]))
      };
    })
  );
}
