// Data of a chart: columns of numbers for the visible steps, thinned to the number of pixels.

import { lowerBound } from '../store/column';
import { align, outline, type Aligned, type Curve } from '../store/decimation';
import type { MetricCurves } from '../store/metrics';
import type { Mark } from '../store/marks';
import type { Smoothing } from '../store/smoothing';

/** From one step to another. */
export type Steps = readonly [from: number, to: number];

export interface PlotContent {
  /** Range of all steps of the run, also where this chart has no points; null before the first. */
  readonly extent: Steps | null;
  readonly marks: readonly Mark[];
  /** Steps, and one column for each series of the plot's style. */
  columns(visible: Steps, pixels: number): Aligned;
}

interface Frame {
  readonly extent: Steps | null;
  readonly marks: readonly Mark[];
}

/** Columns low, high, raw, smooth, validation. Few points are a raw line, many the range from low to high. */
export function metricContent(
  metric: MetricCurves,
  smoothing: Smoothing,
  positive: boolean,
  frame: Frame
): PlotContent {
  return {
    ...frame,
    columns: (visible, pixels) => {
      const { train, validation } = metric;
      const smooth = train.smooth(smoothing);
      const [from, to] = within(train.x, visible);
      const cut = (curve: Curve) => plain(curve, visible, pixels, positive);
      if (to - from <= 2 * pixels) {
        const x = train.x.subarray(from, to);
        return align([
          NOTHING,
          NOTHING,
          onAxis({ x, y: train.y.subarray(from, to) }, positive),
          onAxis({ x, y: smooth.subarray(from, to) }, positive),
          cut(validation)
        ]);
      }
      const { x, low, high, line } = outline(train, smooth, [from, to], pixels);
      return align([
        onAxis({ x, y: low }, positive),
        onAxis({ x, y: high }, positive),
        NOTHING,
        onAxis(
          { x, y: smoothing === 'none' ? middle(low, high) : line },
          positive
        ),
        cut(validation)
      ]);
    }
  };
}

/** One column for each curve. */
export function linesContent(
  curves: readonly Curve[],
  frame: Frame
): PlotContent {
  return {
    ...frame,
    columns: (visible, pixels) =>
      align(curves.map(curve => plain(curve, visible, pixels, false)))
  };
}

/** One column for each curve, which holds its value until the next point. */
export function stepsContent(
  curves: readonly Curve[],
  frame: Frame
): PlotContent {
  return {
    ...frame,
    columns: (visible, pixels) =>
      linesContent(
        curves.map(curve => held(curve, visible)),
        frame
      ).columns(visible, pixels)
  };
}

/** One column for each curve: its sum with the curves before it. All have the same steps. */
export function stackContent(
  curves: readonly Curve[],
  frame: Frame
): PlotContent {
  return linesContent(
    curves.map(({ x }, place) => ({
      x,
      y: Array.from(x, (_, i) =>
        curves.slice(0, place + 1).reduce((sum, { y }) => sum + y[i], 0)
      )
    })),
    frame
  );
}

/** Adds a point at each end of the visible range, so that the value there counts for the axis. */
function held({ x, y }: Curve, [from, to]: Steps): Curve {
  const first = lowerBound(x, from);
  const end = lowerBound(x, to);
  const part = (values: ArrayLike<number>) =>
    Array.prototype.slice.call(values, first, end) as number[];
  const [before, last] = [y[first - 1], y[end - 1]];
  return {
    x: [...(first ? [from] : []), ...part(x), ...(end ? [to] : [])],
    y: [...(first ? [before] : []), ...part(y), ...(end ? [last] : [])]
  };
}

const NOTHING: Curve = { x: [], y: [] };

/** Index range of the visible points, and one more on each side, so that the line continues to the edge. */
function within(x: ArrayLike<number>, [min, max]: Steps): [number, number] {
  return [
    Math.max(0, lowerBound(x, min) - 1),
    Math.min(x.length, lowerBound(x, max) + 2)
  ];
}

/** Thins out a curve with too many points: lowest and highest value of each pixel column, as a zigzag. */
function plain(
  curve: Curve,
  visible: Steps,
  pixels: number,
  positive: boolean
): Curve {
  const [from, to] = within(curve.x, visible);
  if (to - from <= 2 * pixels) {
    const part = (values: ArrayLike<number>) =>
      Array.prototype.slice.call(values, from, to) as number[];
    return onAxis({ x: part(curve.x), y: part(curve.y) }, positive);
  }
  const { x, low, high } = outline(curve, curve.y, [from, to], pixels);
  return onAxis(
    {
      x: x.flatMap((at, i) => [at, at + (x[i + 1] - at || 0) / 2]),
      y: low.flatMap((value, i) => [value, high[i]])
    },
    positive
  );
}

/** Replaces values that are not positive by gaps on a logarithmic axis. */
function onAxis(curve: Curve, positive: boolean): Curve {
  return positive
    ? { x: curve.x, y: Array.from(curve.y, y => (y > 0 ? y : NaN)) }
    : curve;
}

function middle(low: number[], high: number[]): number[] {
  return low.map((value, i) => (value + high[i]) / 2);
}
