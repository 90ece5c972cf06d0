// Time that steps take, and its parts.

import type { ThroughputEvent, RunEvent } from './source';
import type { Reducer } from './reducer';
import { BoundedList } from './bounded-list';

export interface Pace {
  readonly step: number;
  /** Samples per second of step time, without validation and pauses. */
  readonly throughput: number;
  /** Milliseconds per step for the data. */
  readonly data: number;
  /** The whole step without the data where `update` is null. */
  readonly compute: number;
  readonly update: number | null;
}

const MOST = 1000;

export class Throughput implements Reducer<readonly Pace[]> {
  apply(event: RunEvent): void {
    if (event.kind === 'start') {
      this._paces.cut(event.step ?? 0);
    } else if (event.kind === 'pace') {
      const pace = paceOf(event);
      if (pace) {
        this._paces.push(pace);
      }
    }
  }

  view(): readonly Pace[] {
    return this._paces.items();
  }

  private readonly _paces = new BoundedList<Pace>(MOST, ({ step }) => step);
}

function paceOf(event: ThroughputEvent): Pace | null {
  const { step, steps, samples, data, compute, update } = event;
  if (!steps) {
    return null;
  }
  const seconds = data + compute + (update ?? 0);
  const each = (time: number) => (1000 * time) / steps;
  return {
    step,
    throughput: seconds > 0 ? samples / seconds : NaN,
    data: each(data),
    compute: each(compute),
    update: update === null ? null : each(update)
  };
}
