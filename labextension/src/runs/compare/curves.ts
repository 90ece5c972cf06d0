// Metrics of one run over steps, time and epochs, in bounded memory.

import { lowerBound } from '../store/column';
import type { Curve } from '../store/decimation';
import { metricName } from '../store/metric-name';
import { figuresIn } from '../store/metrics';
import { Series } from '../store/series';
import type { Smoothing } from '../store/smoothing';
import { RESERVED } from '../../api/events';
import type { Column } from '../../api/validate';
import type { RunEvent, StartEvent } from '../store/source';

export type Across = 'step' | 'epoch' | 'time';

/** Maximum number of points of a curve; there are curves of many runs at a time. */
const MOST = 2 ** 13;

export class RunCurves {
  /** Values of single steps, or of epochs where only those exist; those of the validation data start with "val_". */
  readonly figures = new Map<string, Series>();
  /** Samples per second. */
  throughput = new Series({ most: MOST });
  /** Memory of the process in bytes, and its GPU memory. */
  memory = new Series({ most: MOST });
  gpuMemory = new Series({ most: MOST });
  stepsPerEpoch: number | null = null;
  /** Seconds of training at a step. */
  private _clock = new Series({ most: MOST });
  private readonly _perStep = new Set<string>();
  private _active = 0;
  private _last: number | null = null;
  private _isPaused = false;
  private _step = 0;

  apply(event: RunEvent): void {
    if (event.kind === 'reset') {
      this._clear();
      return;
    }
    if (event.kind === 'start') {
      this._begin(event);
      return;
    }
    if (this._last !== null && !this._isPaused) {
      this._active += Math.max(0, event.time - this._last);
    }
    this._last = event.time;
    switch (event.kind) {
      case 'steps':
        this._addColumns(event, event.step);
        break;
      case 'epoch':
        this._addEpoch(event);
        break;
      case 'status':
        this._isPaused = event.status === 'paused';
        break;
      case 'pace': {
        const seconds = event.data + event.compute + (event.update ?? 0);
        if (seconds > 0) {
          this.throughput.add(event.step, event.samples / seconds);
        }
        break;
      }
      case 'system': {
        this.memory.add(this._step, event.memory ?? null);
        const shares = (event.gpus ?? []).map(gpu => gpu.memory ?? 0);
        if (shares.length) {
          this.gpuMemory.add(
            this._step,
            shares.reduce((a, b) => a + b)
          );
        }
        break;
      }
    }
  }

  /** Metric over steps, epochs or seconds; null where the run does not have it. */
  curve(name: string, across: Across, smoothing: Smoothing): Curve | null {
    const series = this.figures.get(name);
    if (!series?.length) {
      return null;
    }
    const y = name.startsWith('val_') ? series.y : series.smooth(smoothing);
    return { x: this.across(series.x, across), y };
  }

  /** Steps converted to positions on the x axis. */
  across(steps: Float64Array, across: Across): ArrayLike<number> {
    const perEpoch = this.stepsPerEpoch;
    if (across === 'time') {
      return steps.map(step => this._timeAt(step));
    }
    return across === 'epoch' && perEpoch
      ? steps.map(step => step / perEpoch)
      : steps;
  }

  private _begin(event: StartEvent): void {
    const done = event.step ?? 0;
    if (done > 0) {
      const all = [...this.figures.values(), this.throughput, this.memory, this.gpuMemory, this._clock]; // prettier-ignore
      all.forEach(series => series.cut(done));
    } else {
      this._clear();
    }
    this._step = done;
    this._last = event.time;
    this._isPaused = false;
    this.stepsPerEpoch = event.steps_per_epoch ?? null;
    this._clock.add(done, this._active);
  }

  private _clear(): void {
    this.figures.clear();
    this._perStep.clear();
    this.throughput = new Series({ most: MOST });
    this.memory = new Series({ most: MOST });
    this.gpuMemory = new Series({ most: MOST });
    this._clock = new Series({ most: MOST });
    [this._active, this._last, this._isPaused, this._step] = [
      0,
      null,
      false,
      0
    ];
  }

  private _addColumns(
    columns: { readonly [name: string]: unknown },
    steps: ArrayLike<number>
  ): void {
    for (const [key, column] of Object.entries(columns)) {
      const name = metricName(key);
      if (!RESERVED.includes(key) && isColumn(column)) {
        if (!this._perStep.has(name)) {
          this._perStep.add(name);
          this.figures.delete(name); // single steps replace the means of epochs
        }
        this._series(name).push(steps, column);
      }
    }
    if (steps.length) {
      this._recordTime(steps[steps.length - 1]);
    }
  }

  private _addEpoch(event: {
    readonly [name: string]: unknown;
    step: number;
  }): void {
    for (const [name, value] of figuresIn(event)) {
      if (!this._perStep.has(name)) {
        this._series(name).add(event.step, value);
      }
    }
    const rate = event.samples_per_second;
    if (typeof rate === 'number' && !this.throughput.length) {
      this.throughput.add(event.step, rate);
    }
    this._recordTime(event.step);
  }

  private _recordTime(step: number): void {
    this._step = Math.max(this._step, step);
    this._clock.add(this._step, this._active);
  }

  private _series(name: string): Series {
    const isSmoothed = !name.startsWith('val_');
    const series =
      this.figures.get(name) ??
      new Series({ smoothed: isSmoothed, most: MOST });
    this.figures.set(name, series);
    return series;
  }

  /** Training time of a step, interpolated between the recorded ones. */
  private _timeAt(step: number): number {
    const { x, y } = this._clock;
    const after = lowerBound(x, step);
    if (after === 0 || x[after] === step) {
      return y[after] ?? 0;
    }
    if (after === x.length) {
      return y[after - 1];
    }
    const part = (step - x[after - 1]) / (x[after] - x[after - 1]);
    return y[after - 1] + part * (y[after] - y[after - 1]);
  }
}

function isColumn(value: unknown): value is Column {
  return Array.isArray(value) || ArrayBuffer.isView(value);
}
