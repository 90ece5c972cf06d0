// One uPlot chart: drawing, visible range of steps, and cursor.

import uPlot from 'uplot';
import { axesOf, type AxesSettings } from './plot-axes';
import type { PlotContent, Steps } from './plot-content';
import { colorOf, drawMarks } from './plot-marks';
import { lookOf, type PlotStyle } from './plot-style';
import type { ChartColors } from './theme';

/** A drag of fewer pixels counts as a click. */
const DRAGGED = 4;

export interface PlotSettings extends AxesSettings {
  readonly style: PlotStyle;
  /** Charts with the same key share the cursor. */
  readonly syncKey: string;
  /** Called with the step under the cursor and its position, or with null when the cursor leaves. */
  readonly hover: (at: Hover | null) => void;
  /** Called with the range of steps that was selected by a drag; null: all of them. */
  readonly zoom: (steps: Steps | null) => void;
}

export interface Hover {
  readonly step: number;
  /** Range of steps that the cursor cannot distinguish. */
  readonly near: Steps;
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

export class Plot {
  private readonly _plot: uPlot;
  private readonly _bands: readonly uPlot.Band[];
  private readonly _watch: IntersectionObserver | null = null;
  private _content: PlotContent | null = null;
  private _window: Steps | null = null;
  private _isVisible = true;
  private _isPointed = false;
  private _frame = 0;

  constructor(
    private readonly _element: HTMLElement,
    size: { width: number; height: number },
    private readonly _settings: PlotSettings
  ) {
    const look = lookOf(_settings.style, _settings.colors);
    this._bands = look.bands ?? [];
    this._plot = new uPlot(
      {
        ...size,
        ...look,
        ...axesOf(_settings),
        legend: { show: false },
        padding: [10, 22, 0, 0],
        cursor: {
          sync: {
            key: _settings.syncKey,
            scales: ['x', null],
            // charts share the cursor; zooming is synchronized by the settings
            filters: {
              pub: type => type === 'mousemove' || type === 'mouseleave'
            }
          },
          drag: { x: true, y: false, setScale: false },
          bind: {
            dblclick: () => () => {
              _settings.zoom(null);
              return null;
            },
            mouseenter: (_u, _over, handle) => event => {
              this._isPointed = true;
              return handle(event);
            },
            mouseleave: (_u, _over, handle) => event => {
              this._isPointed = false;
              return handle(event);
            }
          },
          points: { show: false },
          y: false
        },
        hooks: {
          setCursor: [() => this._onCursor()],
          setSelect: [() => this._onSelect()],
          draw: [u => this._drawMarks(u)]
        }
      },
      look.series.map(() => []) as unknown as uPlot.AlignedData,
      _element
    );
    if (typeof IntersectionObserver !== 'undefined') {
      this._watch = new IntersectionObserver(entries => {
        this._isVisible = entries[entries.length - 1].isIntersecting;
        this._scheduleDraw();
      });
      this._watch.observe(_element);
    }
  }

  show(content: PlotContent): void {
    this._content = content;
    this._scheduleDraw();
  }

  /** Sets the visible range of steps; null shows all. */
  setWindow(window: Steps | null): void {
    this._window = window;
    this._scheduleDraw();
  }

  resize(width: number, height: number): void {
    if (width !== this._plot.width || height !== this._plot.height) {
      this._plot.setSize({ width, height });
      this._scheduleDraw();
    }
  }

  recolor(): void {
    this._plot.redraw(false, true);
  }

  /** Moves the cursor by a fraction of the chart's width, from the middle if there is no cursor. */
  moveCursor(part: number): void {
    const { over, cursor } = this._plot;
    const width = over.clientWidth;
    const from =
      cursor.left !== undefined && cursor.left >= 0 ? cursor.left : width / 2;
    const left = Math.min(width - 1, Math.max(0, from + part * width));
    this._isPointed = true;
    this._plot.setCursor({ left, top: over.clientHeight / 3 });
  }

  leaveCursor(): void {
    this._isPointed = false;
    this._plot.setCursor({ left: -10, top: -10 });
  }

  /** The underlying uPlot, for export as an image. */
  get drawn(): uPlot {
    return this._plot;
  }

  /** Positions and colors of the marks. */
  flags(): { at: number; color: string }[] {
    const { axis, colors } = this._settings;
    return (this._content?.marks ?? []).map(({ step, level }) => ({
      at: axis.of(step),
      color: colorOf(level, colors())
    }));
  }

  get bands(): readonly uPlot.Band[] {
    return this._bands;
  }

  get colors(): () => ChartColors {
    return this._settings.colors;
  }

  destroy(): void {
    cancelAnimationFrame(this._frame);
    this._watch?.disconnect();
    this._content = null;
    this._plot.destroy();
  }

  /** Draws once in the next animation frame, if the chart is visible. */
  private _scheduleDraw(): void {
    if (!this._frame && this._isVisible && this._content) {
      this._frame = requestAnimationFrame(() => {
        this._frame = 0;
        this._draw();
      });
    }
  }

  private _draw(): void {
    const visible = this._window ?? this._content?.extent;
    if (!this._content || !visible) {
      this._plot.redraw(false, true);
      return;
    }
    const { axis } = this._settings;
    const pixels = Math.max(16, Math.round(this._plot.over.clientWidth));
    const [x, ...columns] = this._content.columns(visible, pixels);
    const [min, max] = visible.map(step => axis.of(step));
    this._plot.batch(() => {
      this._plot.setData(
        [x.map(step => axis.of(step)), ...columns] as uPlot.AlignedData,
        false
      );
      this._plot.setScale(
        'x',
        max > min ? { min, max } : { min: min - 1, max: max + 1 }
      );
    });
  }

  private _drawMarks(u: uPlot): void {
    const { axis, colors } = this._settings;
    if (this._content?.marks.length && u.scales.x.min !== undefined) {
      drawMarks(u, this._content.marks, axis, colors());
    }
  }

  private _onCursor(): void {
    const { cursor, over } = this._plot;
    const { left, top } = cursor;
    if (!this._isPointed || left === undefined || left < 0 || !this._content) {
      this._settings.hover(null);
      return;
    }
    const step = (at: number) =>
      this._settings.axis.stepAt(this._plot.posToVal(at, 'x'));
    const box = over.getBoundingClientRect();
    const wrap = this._element.getBoundingClientRect();
    this._settings.hover({
      step: step(left),
      near: [step(left - DRAGGED), step(left + DRAGGED)],
      left: left + box.left - wrap.left,
      top: Math.max(0, top ?? 0) + box.top - wrap.top,
      width: wrap.width
    });
  }

  private _onSelect(): void {
    const { left, width } = this._plot.select;
    if (width <= 0) {
      return;
    }
    this._plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (width >= DRAGGED) {
      const [from, to] = [left, left + width].map(at =>
        this._settings.axis.stepAt(this._plot.posToVal(at, 'x'))
      );
      this._settings.zoom([from, to]);
    }
  }
}
