// One uPlot chart of a metric: what is drawn, how far it is decimated, zoom and logarithmic axis.

import uPlot from 'uplot';
import { lowerBound } from './column';
import { align, decimate, type Curve } from './decimation';
import { count } from './format';
import type { MetricCurves } from './run-state';
import type { ChartColours } from './theme';

/** Points of one curve that are drawn at most. */
const LIMIT = 2000;
/** Validation points are marked while there are few enough to tell them apart. */
const MARKED = 120;
const AXIS_FONT = '11px system-ui, sans-serif';

export interface PlotSettings {
  /** Charts with the same key share cursor and zoom. */
  readonly syncKey: string;
  readonly logarithmic: boolean;
  readonly colours: () => ChartColours;
  /** The step under the cursor and where it is, or null when the cursor leaves. */
  readonly hover: (at: Hover | null) => void;
}

export interface Hover {
  readonly step: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

export class Plot {
  private readonly _plot: uPlot;
  private _curves: MetricCurves | null = null;
  /** The steps a person has zoomed to; null shows everything. */
  private _window: [number, number] | null = null;

  constructor(
    element: HTMLElement,
    size: { width: number; height: number },
    private readonly _settings: PlotSettings
  ) {
    this._plot = new uPlot(
      {
        ...size,
        ...options(_settings),
        hooks: {
          setCursor: [u => this._moved(u)],
          setScale: [(u, key) => key === 'x' && this._ranged(u.scales.x)]
        }
      },
      [[], [], [], []],
      element
    );
  }

  show(curves: MetricCurves): void {
    this._curves = curves;
    this._draw();
  }

  resize(width: number, height: number): void {
    if (width !== this._plot.width || height !== this._plot.height) {
      this._plot.setSize({ width, height });
    }
  }

  recolour(): void {
    this._plot.redraw(false, true);
  }

  destroy(): void {
    this._curves = null;
    this._plot.destroy();
  }

  private _moved(u: uPlot): void {
    const { left, top } = u.cursor;
    if (left === undefined || left < 0 || !this._curves) {
      this._settings.hover(null);
    } else {
      const box = u.over.getBoundingClientRect();
      const wrap = u.root.getBoundingClientRect();
      this._settings.hover({
        step: u.posToVal(left, 'x'),
        left: left + box.left - wrap.left,
        top: Math.max(0, top ?? 0) + box.top - wrap.top,
        width: wrap.width
      });
    }
  }

  private _ranged({ min, max }: uPlot.Scale): void {
    if (!this._curves || min === undefined || max === undefined) {
      return;
    }
    const [first, last] = extent(this._curves);
    const window: [number, number] | null =
      min > first || max < last ? [min, max] : null;
    if (String(window) !== String(this._window)) {
      this._window = window;
      // uPlot is in the midst of its own change: draw the finer points after it.
      queueMicrotask(() => this._draw());
    }
  }

  private _draw(): void {
    const curves = this._curves;
    if (!curves) {
      return;
    }
    const window = this._window;
    const data = align(
      [curves.train, curves.smooth, curves.validation].map(curve =>
        thin(curve, window, this._settings.logarithmic)
      )
    ) as uPlot.AlignedData;
    this._plot.batch(() => {
      // While zoomed, new points do not move the view.
      this._plot.setData(data, window === null);
      if (window) {
        this._plot.setScale('x', { min: window[0], max: window[1] });
      }
    });
  }
}

/** The step of the curve nearest to `step`, or -1 for an empty curve. */
export function nearest(x: ArrayLike<number>, step: number): number {
  const after = lowerBound(x, step);
  if (after === 0) {
    return x.length ? 0 : -1;
  }
  if (after === x.length) {
    return after - 1;
  }
  return step - x[after - 1] <= x[after] - step ? after - 1 : after;
}

function extent(curves: MetricCurves): [number, number] {
  const all = [curves.train.x, curves.validation.x].filter(x => x.length);
  return [
    Math.min(...all.map(x => x[0])),
    Math.max(...all.map(x => x[x.length - 1]))
  ];
}

/** The visible part of a curve, decimated; one point more on each side keeps the line going to the edge. */
function thin(
  curve: Curve,
  window: [number, number] | null,
  positive: boolean
): Curve {
  const [min, max] = window ?? [-Infinity, Infinity];
  const from = Math.max(0, lowerBound(curve.x, min) - 1);
  const to = Math.min(curve.x.length, lowerBound(curve.x, max) + 2);
  const kept = decimate(curve.y, from, to, LIMIT);
  const y = Array.from(kept, i =>
    positive && !(curve.y[i] > 0) ? NaN : curve.y[i]
  );
  return { x: Array.from(kept, i => curve.x[i]), y };
}

function options(
  settings: PlotSettings
): Omit<uPlot.Options, 'width' | 'height'> {
  const { colours } = settings;
  const axis: uPlot.Axis = {
    stroke: () => colours().text,
    font: AXIS_FONT,
    grid: { stroke: () => colours().grid, width: 1 },
    ticks: { stroke: () => colours().grid, width: 1, size: 4 }
  };
  return {
    legend: { show: false },
    padding: [8, 26, 0, 0],
    cursor: {
      sync: { key: settings.syncKey, scales: ['x', null] },
      drag: { x: true, y: false, setScale: true },
      points: { show: false },
      y: false
    },
    scales: {
      x: {
        time: false,
        range: (_u, min, max) => (min === max ? [min - 1, max + 1] : [min, max])
      },
      y: settings.logarithmic
        ? { distr: 3, range: logRange }
        : { range: linearRange }
    },
    axes: [
      {
        ...axis,
        size: 28,
        space: 60,
        values: (_u, ticks) => ticks.map(tick => (tick % 1 ? '' : count(tick)))
      },
      {
        ...axis,
        size: 52,
        values: (_u, ticks) =>
          ticks.map(tick => (tick === null ? '' : tickLabel(tick)))
      }
    ],
    series: [
      {},
      {
        stroke: () => colours().train,
        width: 1,
        alpha: 0.3,
        points: { show: false }
      },
      { stroke: () => colours().train, width: 2, points: { show: lonely } },
      {
        stroke: () => colours().validation,
        width: 2,
        points: {
          show: (u, _series, first, last) =>
            countDefined(u.data[3], first, last) <= MARKED,
          size: 7,
          fill: () => colours().validation
        }
      }
    ]
  };
}

/** A line needs two points: a single one is marked, or nothing would be seen. */
function lonely(
  u: uPlot,
  series: number,
  first: number,
  last: number
): boolean {
  return countDefined(u.data[series], first, last) === 1;
}

function countDefined(
  values: ArrayLike<number | null | undefined>,
  first: number,
  last: number
): number {
  let defined = 0;
  for (let i = first; i <= last; i++) {
    defined += typeof values[i] === 'number' ? 1 : 0;
  }
  return defined;
}

function linearRange(
  _u: uPlot,
  min: number | null,
  max: number | null
): uPlot.Range.MinMax {
  if (min === null || max === null) {
    return [0, 1];
  }
  const room = (max - min) * 0.06 || Math.abs(max) * 0.1 || 0.5;
  // Figures that cannot be negative, such as a loss or an accuracy, do not get an axis below zero.
  return [min >= 0 ? Math.max(0, min - room) : min - room, max + room];
}

function logRange(
  _u: uPlot,
  min: number | null,
  max: number | null
): uPlot.Range.MinMax {
  if (min === null || max === null || min <= 0) {
    return [0.1, 1];
  }
  const room = (max / min) ** 0.06 > 1 ? (max / min) ** 0.06 : 1.2;
  return [min / room, max * room];
}

function tickLabel(tick: number): string {
  return Math.abs(tick) >= 1e-3 && Math.abs(tick) < 1e5
    ? String(Number(tick.toPrecision(6)))
    : figureOrZero(tick);
}

function figureOrZero(tick: number): string {
  return tick === 0 ? '0' : tick.toExponential().replace('e+', 'e');
}
