// How long a run has trained, how fast, and how long it will still take; pauses do not count.

import { Column, lowerBound } from './column';

export class Clock {
  private _active = 0;
  private _last: number | null = null;
  private _paused = false;
  private readonly _times = new Column();
  private readonly _steps = new Column();

  /** Seconds trained up to the last event. */
  get active(): number {
    return this._active;
  }

  /** Moves on to the time (unix seconds) of an event. */
  tick(time: number): void {
    if (this._last !== null && !this._paused) {
      this._active += Math.max(0, time - this._last);
    }
    this._last = time;
  }

  /** The clock stands still while the run is paused. */
  setPaused(paused: boolean): void {
    this._paused = paused;
  }

  /** Notes that `step` had been reached at the time of the last tick; the start is step 0. */
  reached(step: number): void {
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
}
