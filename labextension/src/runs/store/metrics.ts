// Curves of the loss and the metrics.

import { Series } from './series';
import { RESERVED } from '../../api/events';
import { metricName } from './metric-name';
import type { Column } from '../../api/validate';
import type { RunEvent } from './source';
import type { Reducer } from './reducer';

export interface MetricCurves {
  readonly name: string;
  /** Training values of every step or, where only those exist, of every epoch. */
  readonly train: Series;
  /** Means of the training values of each epoch. */
  readonly epochs: Series;
  readonly validation: Series;
}

/** Metrics of an epoch by name; NaN is a value that is not finite. */
export function figuresIn(event: {
  [name: string]: unknown;
}): [name: string, value: number][] {
  return Object.entries(event).flatMap(([name, value]) =>
    !RESERVED.includes(name) && (typeof value === 'number' || value === null)
      ? [[metricName(name), value ?? NaN] as [string, number]]
      : []
  );
}

class Metric {
  readonly steps = new Series({ smoothed: true });
  readonly epochs = new Series();
  readonly validation = new Series();
  private _curves: MetricCurves | null = null;

  constructor(readonly name: string) {}

  changed(): void {
    this._curves = null;
  }

  cut(step: number): void {
    [this.steps, this.epochs, this.validation].forEach(each => each.cut(step));
    this.changed();
  }

  /** Returns the same object until a point is added, so that an unchanged chart is not drawn again. */
  curves(): MetricCurves {
    this._curves ??= {
      name: this.name,
      train: this.steps.length ? this.steps : this.epochs,
      epochs: this.epochs,
      validation: this.validation
    };
    return this._curves;
  }
}

export class Metrics implements Reducer<readonly MetricCurves[]> {
  apply(event: RunEvent): void {
    if (event.kind === 'start') {
      if (event.step) {
        const { step } = event;
        this._metrics.forEach(metric => metric.cut(step));
      } else {
        this._metrics.clear();
      }
      ['loss', ...(event.metrics ?? [])].forEach(name => this._metric(name));
    } else if (event.kind === 'steps') {
      for (const [name, column] of Object.entries(event)) {
        if (!RESERVED.includes(name) && isColumn(column)) {
          const metric = this._metric(metricName(name));
          metric.steps.push(event.step, column);
          metric.changed();
        }
      }
    } else if (event.kind === 'epoch' || event.kind === 'validation') {
      for (const [name, value] of figuresIn(event)) {
        const isValidation = name.startsWith('val_');
        const metric = this._metric(isValidation ? name.slice(4) : name);
        const series = isValidation ? metric.validation : metric.epochs;
        series.add(event.step, value);
        metric.changed();
      }
    } else {
      return;
    }
    this._view = null;
  }

  view(): readonly MetricCurves[] {
    this._view ??= [...this._metrics.values()].map(metric => metric.curves());
    return this._view;
  }

  private _metric(name: string): Metric {
    let metric = this._metrics.get(name);
    if (!metric) {
      metric = new Metric(name);
      this._metrics.set(name, metric);
    }
    return metric;
  }

  private readonly _metrics = new Map<string, Metric>();
  private _view: readonly MetricCurves[] | null = null;
}

function isColumn(value: unknown): value is Column {
  return Array.isArray(value) || ArrayBuffer.isView(value);
}
