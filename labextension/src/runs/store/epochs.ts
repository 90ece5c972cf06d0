// Metrics at the ends of epochs, and the best value of each.

import type { BestEvent, RunEvent } from './source';
import { figuresIn } from './metrics';
import type { Reducer } from './reducer';

export interface EpochRow {
  readonly epoch: number;
  readonly step: number;
  readonly figures: Readonly<Record<string, number>>;
  readonly samplesPerSecond: number | null;
}

export type Best = BestEvent['best'];

export interface EpochsView {
  /** Last epochs, the oldest first. */
  readonly rows: readonly EpochRow[];
  /** Best values by metric, computed in Python, for metrics with a known direction. */
  readonly best: Best;
}

/** Maximum number of rows. */
const MOST = 1000;

export class Epochs implements Reducer<EpochsView> {
  apply(event: RunEvent): void {
    if (event.kind === 'start') {
      const step = event.step ?? 0;
      this._rows = this._rows.filter(row => row.step <= step);
      this._best = step ? this._best : {};
    } else if (event.kind === 'epoch') {
      this._rows.push({
        epoch: event.epoch,
        step: event.step,
        figures: Object.fromEntries(figuresIn(event)),
        samplesPerSecond: event.samples_per_second ?? null
      });
      if (this._rows.length >= 2 * MOST) {
        this._rows = this._rows.slice(-MOST);
      }
    } else if (event.kind === 'best') {
      this._best = event.best;
    } else if (event.kind === 'end' && event.summary?.best) {
      this._best = event.summary.best;
    } else {
      return;
    }
    this._view = null;
  }

  view(): EpochsView {
    this._view ??= {
      rows: this._rows.slice(-MOST),
      best: this._best
    };
    return this._view;
  }

  private _rows: EpochRow[] = [];
  private _best: Best = {};
  private _view: EpochsView | null = null;
}
