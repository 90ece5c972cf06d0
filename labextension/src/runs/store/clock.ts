// Training time, speed and remaining time of a run, without pauses.

import { Column, lowerBound } from './column';

/** Maximum number of recorded moments; when it is reached, every second one is dropped. */
const MOST = 8192;

export class Clock {
  private _active = 0;
  private _last: number | null = null;
  private _paused = false;
  private _times = new Column();
  private _steps = new Column();

  /** Seconds of training up to the last event. */
  get active(): number {
    return this._active;
  }

  /** Advances to the time (Unix seconds) of an event. */
  tick(time: number): void {
    if (this._last !== null && !this._paused) {
      this._active += Math.max(0, time - this._last);
    }
    this._last = Math.max(this._last ?? time, time);
  }

  /** The clock stops while the run is paused. */
  setPaused(paused: boolean): void {
    this._paused = paused;
  }

  /** Continues at `time` from `step`; the time since the last event does not count. */
  resume(time: number, step: number): void {
    this._last = time;
    this._paused = false;
    const kept = lowerBound(this._steps.view(), step);
    this._keep(i => i < kept);
    this.reached(step);
  }

  /** Records that `step` was reached at the time of the last tick; the start is step 0. */
  reached(step: number): void {
    if (this._steps.length >= MOST) {
      this._keep(i => i % 2 === 0);
    }
    this._times.push(this._active);
    this._steps.push(step);
  }

  /** Steps per second over the last `seconds` of training; null if there are too few steps. */
  rate(seconds: number): number | null {
    const last = this._times.length - 1;
    if (last < 1) {
      return null;
    }
    const times = this._times.view();
    const steps = this._steps.view();
    const first = Math.min(last - 1, lowerBound(times, times[last] - seconds));
    const elapsed = times[last] - times[first];
    return elapsed > 0 ? (steps[last] - steps[first]) / elapsed : null;
  }

  /** Seconds left until `totalSteps`. */
  remaining(totalSteps: number): number | null {
    // The later half of the run excludes the slow first step (compilation) and still contains validations.
    const rate = this.rate(this._active / 2);
    const step = this._steps.last ?? 0;
    return rate ? Math.max(0, totalSteps - step) / rate : null;
  }

  /** Seconds of training at which a step was reached. */
  timeOf(step: number): number {
    return between(this._steps.view(), this._times.view(), step);
  }

  /** Step that was reached after so many seconds of training. */
  stepAt(seconds: number): number {
    return between(this._times.view(), this._steps.view(), seconds);
  }

  private _keep(isKept: (index: number) => boolean): void {
    const kept = [this._times, this._steps].map(column => {
      const fewer = new Column();
      column.view().forEach((value, i) => isKept(i) && fewer.push(value));
      return fewer;
    });
    [this._times, this._steps] = kept;
  }
}

/** Linear interpolation at `x` through ascending points; extrapolates at the ends. */
function between(xs: Float64Array, ys: Float64Array, x: number): number {
  if (xs.length < 2) {
    return ys.length ? ys[0] : 0;
  }
  const right = Math.max(1, Math.min(xs.length - 1, lowerBound(xs, x)));
  const left = right - 1;
  const span = xs[right] - xs[left];
  return span > 0
    ? ys[left] + ((x - xs[left]) / span) * (ys[right] - ys[left])
    : ys[right];
}
