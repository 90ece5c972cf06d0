// Learning rate over the steps.

import { Series } from './series';
import type { RunEvent } from './source';
import { finite } from './bounds';
import type { Reducer } from './reducer';

export interface RateView {
  readonly curve: Series;
  /** Current rate, or the one that was set last; null while a schedule changes it without reporting it. */
  readonly now: number | null;
  /** Step from which a rate that was set by hand applies; null where none was set. */
  readonly setAt: number | null;
}

const MOST = 4096;

export class LearningRate implements Reducer<RateView> {
  apply(event: RunEvent): void {
    if (event.kind === 'start') {
      const { learning_rate: rate, schedule } = event.settings ?? {};
      this._curve.cut(event.step ?? 0);
      this._now = schedule ? null : finite(rate);
      this._setAt = null;
    } else if (event.kind === 'rate') {
      this._curve.push(event.step, event.value);
      this._now = finite(this._curve.last());
    } else if (event.kind === 'learning_rate') {
      this._curve.add(event.step, event.value);
      this._now = event.value;
      this._setAt = event.step;
    } else {
      return;
    }
    this._view = null;
  }

  view(): RateView {
    this._view ??= { curve: this._curve, now: this._now, setAt: this._setAt };
    return this._view;
  }

  private readonly _curve = new Series({ most: MOST });
  private _now: number | null = null;
  private _setAt: number | null = null;
  private _view: RateView | null = null;
}
