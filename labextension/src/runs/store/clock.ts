// How long a run has trained, how fast, and how long it will still take; pauses do not count.

import { Column, lowerBound } from './column';

/** Moments that are kept; of more every second goes. */
const MOST = 8192;

export class Clock {
  private _active = 0;
  private _last: number | null = null;
  private _paused = false;
  private _times = new Column();
  private _steps = new Column();

  /** Seconds trained up to the last event. */
  get active(): number {
    return this._active;
  }

  /** Moves on to the time (unix seconds) of an event. */
  tick(time: number): void {
    if (this._last !== null && !this._paused) {
      this._active += Math.max(0, time - this._last);
    }
    this._last = Math.max(this._last ?? time, time);
  }

  /** The clock stands still while the run is paused. */
  setPaused(paused: boolean): void {
    this._paused = paused;
  }

  /** Goes on at `time` from `step`: what came between the last event and this is no training. */
  goOn(time: number, step: number): void {
    this._last = time;
    this._paused = false;
    const kept = lowerBound(this._steps.view(), step);
    this._keep(i => i < kept);
    this.reached(step);
  }

  /** Notes that `step` had been reached at the time of the last tick; the start is step 0. */
  reached(step: number): void {
    if (this._steps.length >= MOST) {
      this._keep(i => i % 2 === 0);
    }
    this._times.push(this._active);
    this._steps.push(step);
  }

  /** Steps per second over the last `seconds` of training, or null while there is too little to tell. */
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
    // The later half of the run forgets the slow first step (compilation) and still sees the validation passes.
    const rate = this.rate(this._active / 2);
    const step = this._steps.last ?? 0;
    return rate ? Math.max(0, totalSteps - step) / rate : null;
  }

  /** Seconds trained when a step was reached. */
  timeOf(step: number): number {
    return between(this._steps.view(), this._times.view(), step);
  }

  /** The step that was reached after so many seconds of training. */
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

/** The value at `x` of the line through ascending points; straight on at its ends. */
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
