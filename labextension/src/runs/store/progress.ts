// Status and progress of a run.

import { Clock } from './clock';
import type {
  CheckpointEvent,
  EndEvent,
  FaultPlace,
  ProblemEvent,
  RunEvent,
  RunSummary,
  StartEvent,
  StatusEvent
} from './source';
import type { Reducer } from './reducer';

/** "waiting" is before the first event; "lost" is a process that ended without an end event. */
export type RunStatus =
  'waiting' | StatusEvent['status'] | EndEvent['status'] | 'lost';

/** Whether a run with this status accepts changes or is about to end. */
export function isGoing(status: RunStatus): boolean {
  return status === 'running' || status === 'paused' || status === 'stopping';
}

export interface ProgressView {
  /** Last start event: names, settings and machine. */
  readonly start: StartEvent | null;
  readonly status: RunStatus;
  readonly model: string | null;
  readonly backend: string | null;
  readonly epoch: number;
  readonly epochs: number | null;
  readonly step: number;
  readonly totalSteps: number | null;
  /** 0 to 1; null while the length of the run is unknown. */
  readonly progress: number | null;
  /** Samples per second. */
  readonly throughput: number | null;
  /** Seconds of training, without pauses, up to the last event. */
  readonly elapsed: number;
  readonly remaining: number | null;
  /** Converts between steps and training time. */
  readonly clock: Clock;
  readonly message: string | null;
  /** Location of a failure in the model; null where it is unknown. */
  readonly place: FaultPlace | null;
  readonly summary: RunSummary | null;
  readonly checkpoint: CheckpointEvent | null;
  /** Last problem that did not end the run. */
  readonly problem: ProblemEvent | null;
}

/** Seconds over which the displayed throughput is measured. */
const RECENT = 5;

export class Progress implements Reducer<ProgressView> {
  apply(event: RunEvent): void {
    this._view = null;
    if (event.kind === 'start') {
      this._begin(event);
      return;
    }
    this._clock.tick(event.time);
    switch (event.kind) {
      case 'steps':
        if (event.step.length) {
          this._reach(event.step[event.step.length - 1]);
        }
        break;
      case 'epoch':
        this._epochsDone = event.epoch;
        this._samplesPerSecond = event.samples_per_second ?? null;
        this._reach(event.step);
        break;
      case 'status':
        this._status = event.status;
        this._clock.setPaused(event.status === 'paused');
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
        this._end = event;
        this._status = event.status;
        break;
    }
  }

  view(): ProgressView {
    const { _start: start, _end: end, _epochs: epochs } = this;
    const total = this._total;
    this._view ??= {
      start,
      status: this._status,
      model: start?.model ?? null,
      backend: start?.backend ?? null,
      epoch: this._epoch(),
      epochs,
      step: this._step,
      totalSteps: total,
      progress: this._fraction(),
      throughput: this._throughput(),
      elapsed: this._clock.active,
      remaining: end || total === null ? null : this._clock.remaining(total),
      clock: this._clock,
      message: end?.message ?? null,
      place: end?.place ?? null,
      summary: end?.summary ?? null,
      checkpoint: this._checkpoint,
      problem: this._problem
    };
    return this._view;
  }

  private _begin(event: StartEvent): void {
    const step = event.step ?? 0;
    this._start = event;
    this._end = null;
    this._status = 'running';
    this._epochs = event.epochs ?? null;
    this._problem = null;
    if ((this._checkpoint?.step ?? 0) > step) {
      this._checkpoint = null;
    }
    this._samplesPerSecond = null;
    this._step = step;
    const { steps_per_epoch: steps } = event;
    this._epochsDone = steps ? Math.floor(step / steps) : 0;
    if (step === 0) {
      this._clock = new Clock();
    }
    this._clock.resume(event.time, step);
  }

  private _reach(step: number): void {
    this._step = Math.max(this._step, step);
    this._clock.reached(this._step);
  }

  /** Number of steps of the whole run, where it is known. */
  private get _total(): number | null {
    const { steps_per_epoch: steps, max_steps: most } = this._start ?? {};
    return this._epochs && steps
      ? Math.min(this._epochs * steps, most || Infinity)
      : null;
  }

  private _epoch(): number {
    const { _epochs: epochs, _epochsDone: done } = this;
    const steps = this._start?.steps_per_epoch;
    if (this._status === 'finished' && done) {
      return done;
    }
    const current = steps
      ? Math.max(1, Math.ceil(this._step / steps))
      : done + 1;
    return epochs === null ? current : Math.min(epochs, current);
  }

  private _fraction(): number | null {
    if (this._status === 'finished') {
      return 1;
    }
    if (this._total !== null) {
      return Math.min(1, this._step / this._total);
    }
    return this._epochs ? Math.min(1, this._epochsDone / this._epochs) : null;
  }

  private _throughput(): number | null {
    const measured = this._samplesPerSecond;
    if (this._end && measured !== null) {
      return measured;
    }
    const rate = this._clock.rate(this._end ? Infinity : RECENT);
    const batch = this._start?.batch_size;
    return rate !== null && batch ? rate * batch : measured;
  }

  private _start: StartEvent | null = null;
  private _end: EndEvent | null = null;
  private _status: RunStatus = 'waiting';
  private _epochs: number | null = null;
  private _epochsDone = 0;
  private _samplesPerSecond: number | null = null;
  private _step = 0;
  private _checkpoint: CheckpointEvent | null = null;
  private _problem: ProblemEvent | null = null;
  private _clock = new Clock();
  private _view: ProgressView | null = null;
}
