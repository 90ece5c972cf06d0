// Folds the events of a run into what the dashboard shows.

import { Clock } from './clock';
import { Column } from './column';
import type { Curve } from './decimation';
import { Smoother } from './smoothing';
import type {
  CheckpointEvent,
  EndEvent,
  EpochEvent,
  FaultPlace,
  ProblemEvent,
  RunEvent,
  StartEvent,
  StatusEvent,
  StepsEvent,
  Values
} from './source';

/** "waiting" is before the first event; "lost" is a process that went away without an end event. */
export type RunStatus =
  'waiting' | StatusEvent['status'] | EndEvent['status'] | 'lost';

export interface MetricCurves {
  readonly name: string;
  /** Training, at every step or, where only those exist, at the ends of epochs. */
  readonly train: Curve;
  readonly smooth: Curve;
  readonly validation: Curve;
  /** Undefined: no value yet. NaN: the last value was not a finite number. */
  readonly trainNow: number | undefined;
  readonly validationNow: number | undefined;
}

export interface EpochRow {
  readonly epoch: number;
  readonly step: number;
  readonly figures: Readonly<Record<string, number>>;
  readonly samplesPerSecond: number | null;
}

export interface RunSnapshot {
  readonly status: RunStatus;
  readonly model: string | null;
  readonly backend: string | null;
  readonly epoch: number;
  readonly epochs: number | null;
  readonly step: number;
  readonly totalSteps: number | null;
  /** 0 to 1; null while the length of the run is unknown. */
  readonly progress: number | null;
  readonly metrics: readonly MetricCurves[];
  readonly epochTable: readonly EpochRow[];
  /** Samples per second. */
  readonly throughput: number | null;
  /** Seconds of training, without pauses, up to the last event. */
  readonly elapsed: number;
  readonly remaining: number | null;
  readonly message: string | null;
  /** Where in the model a failure happened; null where that is not known. */
  readonly place: FaultPlace | null;
  /** The rate of the optimiser, or the one that was set last; null while a schedule changes it. */
  readonly learningRate: number | null;
  /** The step from which on a rate set by hand counts; null where none was set. */
  readonly rateSince: number | null;
  readonly checkpoint: CheckpointEvent | null;
  /** The last trouble that did not end the run. */
  readonly problem: ProblemEvent | null;
}

/** Seconds over which the throughput shown during training is measured. */
const RECENT = 5;

class Metric {
  private readonly _trainX = new Column();
  private readonly _trainY = new Column();
  private readonly _smoothY = new Column();
  private readonly _epochX = new Column();
  private readonly _epochY = new Column();
  private readonly _validationX = new Column();
  private readonly _validationY = new Column();
  private readonly _smoother = new Smoother();
  private _curves: MetricCurves | null = null;

  constructor(readonly name: string) {}

  addStep(step: number, value: number): void {
    // A point that does not come after the last one would break the order of the x axis.
    if (step > (this._trainX.last ?? -Infinity)) {
      this._trainX.push(step);
      this._trainY.push(value);
      this._smoothY.push(this._smoother.next(value));
      this._curves = null;
    }
  }

  addEpoch(step: number, value: number): void {
    if (step > (this._epochX.last ?? -Infinity)) {
      this._epochX.push(step);
      this._epochY.push(value);
      this._curves = null;
    }
  }

  addValidation(step: number, value: number): void {
    if (step > (this._validationX.last ?? -Infinity)) {
      this._validationX.push(step);
      this._validationY.push(value);
      this._curves = null;
    }
  }

  /** The same object until a point is added, so that an unchanged chart is not drawn again. */
  curves(): MetricCurves {
    const perStep = this._trainX.length > 0;
    const x = perStep ? this._trainX.view() : this._epochX.view();
    this._curves ??= {
      name: this.name,
      train: { x, y: perStep ? this._trainY.view() : this._epochY.view() },
      smooth: { x, y: perStep ? this._smoothY.view() : this._epochY.view() },
      validation: { x: this._validationX.view(), y: this._validationY.view() },
      trainNow: perStep ? this._smoothY.last : this._epochY.last,
      validationNow: this._validationY.last
    };
    return this._curves;
  }
}

const NOT_FIGURES = new Set([
  'kind',
  'time',
  'step',
  'epoch',
  'samples_per_second'
]);

export class RunState {
  private _start: StartEvent | null = null;
  private _status: RunStatus = 'waiting';
  private _message: string | null = null;
  private _place: FaultPlace | null = null;
  private _epochs: number | null = null;
  private _learningRate: number | null = null;
  private _rateSince: number | null = null;
  private _checkpoint: CheckpointEvent | null = null;
  private _problem: ProblemEvent | null = null;
  private _step = 0;
  private _epochTable: EpochRow[] = [];
  private _metrics = new Map<string, Metric>();
  private _clock = new Clock();

  apply(event: RunEvent): void {
    if (event.kind === 'start') {
      this._begin(event);
      return;
    }
    this._clock.tick(event.time);
    switch (event.kind) {
      case 'steps':
        this._addSteps(event);
        break;
      case 'epoch':
        this._addEpoch(event);
        break;
      case 'status':
        this._status = event.status;
        this._clock.setPaused(event.status === 'paused');
        break;
      case 'learning_rate':
        this._learningRate = event.value;
        this._rateSince = event.step;
        break;
      case 'epochs':
        this._epochs = event.epochs;
        break;
      case 'checkpoint':
        this._checkpoint = event;
        break;
      case 'problem':
        this._problem = event;
        break;
      case 'end':
        this._status = event.status;
        this._message = event.message ?? null;
        this._place = event.place ?? null;
        break;
    }
  }

  snapshot(alive: boolean): RunSnapshot {
    const { ended, total, _epochs: epochs } = this;
    const gone = !alive || ended;
    return {
      status:
        !alive && !ended && this._status !== 'waiting' ? 'lost' : this._status,
      model: this._start?.model ?? null,
      backend: this._start?.backend ?? null,
      epoch: this._epoch(epochs),
      epochs,
      step: this._step,
      totalSteps: total,
      progress: this._progress(epochs),
      metrics: [...this._metrics.values()].map(metric => metric.curves()),
      epochTable: this._epochTable,
      throughput: this._throughput(),
      elapsed: this._clock.active,
      remaining: gone || total === null ? null : this._clock.remaining(total),
      message: this._message,
      place: this._place,
      learningRate: this._learningRate,
      rateSince: this._rateSince,
      checkpoint: this._checkpoint,
      problem: this._problem
    };
  }

  get ended(): boolean {
    return (
      this._status === 'finished' ||
      this._status === 'stopped' ||
      this._status === 'failed'
    );
  }

  /** The number of steps of the whole run, where it is known. */
  get total(): number | null {
    const steps = this._start?.steps_per_epoch;
    return this._epochs && steps ? this._epochs * steps : null;
  }

  /** A start event begins anew: a source that was cut off replays everything. */
  private _begin(event: StartEvent): void {
    this._start = event;
    this._status = 'running';
    this._message = null;
    this._place = null;
    this._epochs = event.epochs ?? null;
    const { learning_rate: rate, schedule } = event.settings ?? {};
    this._learningRate = schedule ? null : (rate ?? null);
    this._rateSince = null;
    this._checkpoint = null;
    this._problem = null;
    this._step = 0;
    this._epochTable = [];
    this._metrics = new Map();
    this._clock = new Clock();
    this._clock.tick(event.time);
    this._clock.reached(0);
    for (const name of ['loss', ...(event.metrics ?? [])]) {
      this._metric(name);
    }
  }

  private _metric(name: string): Metric {
    let metric = this._metrics.get(name);
    if (!metric) {
      metric = new Metric(name);
      this._metrics.set(name, metric);
    }
    return metric;
  }

  private _addSteps(event: StepsEvent): void {
    const { step } = event;
    for (const [name, column] of Object.entries(event)) {
      if (NOT_FIGURES.has(name) || !isColumn(column)) {
        continue;
      }
      const metric = this._metric(name);
      for (let i = 0; i < Math.min(step.length, column.length); i++) {
        metric.addStep(step[i], column[i] ?? NaN);
      }
    }
    if (step.length) {
      this._reach(step[step.length - 1]);
    }
  }

  private _addEpoch(event: EpochEvent): void {
    const figures: Record<string, number> = {};
    for (const [name, value] of Object.entries(event)) {
      if (
        NOT_FIGURES.has(name) ||
        (typeof value !== 'number' && value !== null)
      ) {
        continue;
      }
      figures[name] = value ?? NaN;
      if (name.startsWith('val_')) {
        this._metric(name.slice('val_'.length)).addValidation(
          event.step,
          figures[name]
        );
      } else {
        this._metric(name).addEpoch(event.step, figures[name]);
      }
    }
    const samplesPerSecond = event.samples_per_second ?? null;
    this._epochTable = [
      ...this._epochTable,
      { epoch: event.epoch, step: event.step, figures, samplesPerSecond }
    ];
    this._reach(event.step);
  }

  private _reach(step: number): void {
    this._step = Math.max(this._step, step);
    this._clock.reached(this._step);
  }

  private _epoch(epochs: number | null): number {
    const done = this._epochTable.length
      ? this._epochTable[this._epochTable.length - 1].epoch
      : 0;
    const steps = this._start?.steps_per_epoch;
    if (this._status === 'finished' && done) {
      return done;
    }
    const current = steps
      ? Math.max(1, Math.ceil(this._step / steps))
      : done + 1;
    return epochs === null ? current : Math.min(epochs, current);
  }

  private _progress(epochs: number | null): number | null {
    if (this._status === 'finished') {
      return 1;
    }
    if (this.total !== null) {
      return Math.min(1, this._step / this.total);
    }
    return epochs ? Math.min(1, this._epochTable.length / epochs) : null;
  }

  private _throughput(): number | null {
    const measured = this._epochTable.length
      ? this._epochTable[this._epochTable.length - 1].samplesPerSecond
      : null;
    if (this.ended && measured !== null) {
      return measured;
    }
    const rate = this._clock.rate(this.ended ? Infinity : RECENT);
    const batch = this._start?.batch_size;
    return rate !== null && batch ? rate * batch : measured;
  }
}

function isColumn(value: unknown): value is Values {
  return Array.isArray(value) || ArrayBuffer.isView(value);
}
