// The figures at the ends of epochs, and the best of each.

import type { RunEvent, RunSummary, StartEvent } from '../source';
import { fields, finite } from './checked';
import { figuresIn } from './metrics';
import type { Part } from './part';

export interface EpochRow {
  readonly epoch: number;
  readonly step: number;
  readonly figures: Readonly<Record<string, number>>;
  readonly samplesPerSecond: number | null;
}

export type Best = RunSummary['best'];

export interface EpochsView {
  /** The last ones, the oldest first. */
  readonly rows: readonly EpochRow[];
  /** By the names of figures; left out where the run does not say which way is better. */
  readonly best: Best;
}

/** Rows of a table that a person may want to scroll through. */
const MOST = 1000;

export class Epochs implements Part<EpochsView> {
  apply(event: RunEvent): void {
    if (event.kind === 'start') {
      const step = event.step ?? 0;
      this._rows = this._rows.filter(row => row.step <= step);
      this._start = event;
      this._best = {};
      this._rows.forEach(row => this._compare(row));
    } else if (event.kind === 'epoch') {
      const row = {
        epoch: event.epoch,
        step: event.step,
        figures: Object.fromEntries(figuresIn(event)),
        samplesPerSecond: event.samples_per_second ?? null
      };
      this._rows.push(row);
      if (this._rows.length >= 2 * MOST) {
        this._rows = this._rows.slice(-MOST);
      }
      this._compare(row);
    } else if (event.kind === 'end' && event.summary) {
      this._best = { ...this._best, ...bestIn(event.summary) };
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

  private _compare({ epoch, figures }: EpochRow): void {
    const best = { ...this._best };
    for (const [name, value] of Object.entries(figures)) {
      const sign = this._better(name.replace(/^val_/, ''));
      const before = best[name];
      if (
        sign &&
        Number.isFinite(value) &&
        (!before || sign * value > sign * before.value)
      ) {
        best[name] = { value, epoch };
      }
    }
    this._best = best;
  }

  /** 1: high; -1: low, as losses are; 0: nobody says. */
  private _better(name: string): 1 | 0 | -1 {
    const { higher, lower, metrics } = this._start ?? {};
    const isLow = lower?.includes(name) || !metrics?.includes(name);
    return higher?.includes(name) ? 1 : isLow ? -1 : 0;
  }

  private _rows: EpochRow[] = [];
  private _start: StartEvent | null = null;
  private _best: Best = {};
  private _view: EpochsView | null = null;
}

function bestIn(summary: RunSummary): Best {
  return Object.fromEntries(
    Object.entries(fields(summary.best)).flatMap(([name, best]) => {
      const value = finite(fields(best).value);
      const epoch = finite(fields(best).epoch);
      return value === null || epoch === null ? [] : [[name, { value, epoch }]];
    })
  );
}
