// uPlot chart of one metric of several runs.

import uPlot from 'uplot';
import type { ChartColors } from '../charts/theme';
import {
  linearRange,
  logRange,
  logSplits,
  tickLabel
} from '../charts/plot-scales';
import { table, type OverlayLine } from './overlay-data';

export interface LineLook {
  readonly color: string;
  readonly dash: readonly number[];
}

export interface OverlayOptions {
  readonly syncKey: string;
  readonly isLog: boolean;
  readonly colors: () => ChartColors;
  /** Styles by owner, with colors that a canvas can read. */
  readonly looks: () => ReadonlyMap<string, LineLook>;
  readonly hover: (at: OverlayHover | null) => void;
}

export interface OverlayHover {
  readonly x: number;
  /** Owner of the nearest line. */
  readonly owner: string | null;
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

/** Maximum distance of the pointer to a line that it selects, in pixels. */
const NEAR = 14;
const FAINT = '38';
const MARKED = 60;
const FONT = '11px system-ui, sans-serif';

/** Chart with a fixed set of lines: a different set needs a new chart, see `fits`. */
export class OverlayPlot {
  constructor(
    element: HTMLElement,
    size: { width: number; height: number },
    private _lines: readonly OverlayLine[],
    private readonly _options: OverlayOptions
  ) {
    this._plot = new uPlot(
      {
        ...size,
        ...this._settings(),
        hooks: {
          setCursor: [u => this._onCursor(u)],
          setSeries: [(_, i) => this._onFocus(i)],
          setScale: [(u, key) => key === 'x' && this._onScale(u.scales.x)]
        }
      },
      this._table(),
      element
    );
  }

  fits(lines: readonly OverlayLine[]): boolean {
    return (
      lines.length === this._lines.length &&
      lines.every(({ owner, role }, i) => {
        const mine = this._lines[i];
        return owner === mine.owner && role === mine.role;
      })
    );
  }

  show(lines: readonly OverlayLine[]): void {
    this._lines = lines;
    this._draw();
  }

  /** Highlights the lines of one owner by drawing all others faintly. */
  highlight(owner: string | null): void {
    if (owner !== this._highlighted) {
      this._highlighted = owner;
      this._plot.redraw(false, false);
    }
  }

  resize(width: number, height: number): void {
    if (width !== this._plot.width || height !== this._plot.height) {
      this._plot.setSize({ width, height });
    }
  }

  recolor(): void {
    this._plot.redraw(false, true);
  }

  resetZoom(): void {
    this._window = null;
    this._draw();
  }

  destroy(): void {
    this._plot.destroy();
  }

  private _table(): uPlot.AlignedData {
    return table(
      this._lines,
      this._window,
      this._options.isLog
    ) as uPlot.AlignedData;
  }

  private _draw(): void {
    const data = this._table();
    this._plot.batch(() => {
      // while zoomed, new points do not change the visible range
      this._plot.setData(data, this._window === null);
      if (this._window) {
        this._plot.setScale('x', {
          min: this._window[0],
          max: this._window[1]
        });
      }
    });
  }

  private _onScale({ min, max }: uPlot.Scale): void {
    if (min === undefined || max === undefined || !this._lines.length) {
      return;
    }
    const first = Math.min(...this._lines.map(({ curve }) => curve.x[0]));
    const last = Math.max(
      ...this._lines.map(({ curve }) => curve.x[curve.x.length - 1])
    );
    const window: [number, number] | null =
      min > first || max < last ? [min, max] : null;
    if (String(window) !== String(this._window)) {
      this._window = window;
      // uPlot is still updating: draw the finer points afterwards
      queueMicrotask(() => this._draw());
    }
  }

  private _onCursor(u: uPlot): void {
    const { left, top } = u.cursor;
    if (left === undefined || left < 0) {
      this._options.hover(null);
      return;
    }
    const box = u.over.getBoundingClientRect();
    const wrap = u.root.getBoundingClientRect();
    this._options.hover({
      x: u.posToVal(left, 'x'),
      owner: this._near,
      left: left + box.left - wrap.left,
      top: Math.max(0, top ?? 0) + box.top - wrap.top,
      width: wrap.width
    });
  }

  private _onFocus(series: number | null): void {
    this._near = series ? (this._lines[series - 1]?.owner ?? null) : null;
  }

  private _color(line: OverlayLine): string {
    const color = this._options.looks().get(line.owner)?.color ?? '#888888';
    const isFaint =
      this._highlighted !== null && this._highlighted !== line.owner;
    return isFaint ? color + FAINT : color;
  }

  private _settings(): Omit<uPlot.Options, 'width' | 'height'> {
    const { colors, isLog, looks, syncKey } = this._options;
    const axis: uPlot.Axis = {
      stroke: () => colors().text,
      font: FONT,
      grid: { stroke: () => colors().grid, width: 1 },
      ticks: { stroke: () => colors().grid, width: 1, size: 4 }
    };
    const both = new Set(this._lines.map(line => line.role)).size > 1;
    const series = this._lines.map((line): uPlot.Series => {
      const isEdge = line.role === 'low' || line.role === 'high';
      return {
        stroke: () => (isEdge ? 'transparent' : this._color(line)),
        // validation lines are thicker where both are drawn
        width: line.role === 'validation' && both ? 2.5 : 1.5,
        dash: [...(looks().get(line.owner)?.dash ?? [])],
        spanGaps: false,
        points: {
          show: (_u, i, first, last) =>
            line.role === 'validation' && last - first < MARKED && i > 0,
          size: 5
        }
      };
    });
    const bands = this._lines.flatMap((line, i): uPlot.Band[] =>
      line.role === 'high'
        ? [{ series: [i + 1, i], fill: () => this._color(line) + '2e' }]
        : []
    );
    return {
      legend: { show: false },
      padding: [8, 20, 0, 0],
      cursor: {
        sync: { key: syncKey, scales: ['x', null] },
        focus: { prox: NEAR },
        drag: { x: true, y: false },
        points: { show: false }
      },
      focus: { alpha: 1 },
      scales: {
        x: { time: false },
        y: { distr: isLog ? 3 : 1, range: isLog ? logRange : linearRange }
      },
      axes: [
        { ...axis, size: 30, values: (_u, ticks) => ticks.map(tickLabel) },
        {
          ...axis,
          ...(isLog && { splits: logSplits, filter: (_u, splits) => splits }),
          size: 56,
          values: (_u, ticks) =>
            ticks.map(tick => (tick === null ? '' : tickLabel(tick)))
        }
      ],
      series: [{}, ...series],
      bands
    };
  }

  private readonly _plot: uPlot;
  private _window: [number, number] | null = null;
  private _highlighted: string | null = null;
  private _near: string | null = null;
}
