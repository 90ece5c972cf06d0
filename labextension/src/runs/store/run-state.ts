// Reduces the events of a run to the state that the dashboard shows.

import { tabParts, type Reducer } from './reducers';
import { Epochs } from './epochs';
import { Health } from './health';
import { Marks } from './marks';
import { Metrics } from './metrics';
import { Throughput } from './throughput';
import {
  isGoing,
  Progress,
  type ProgressView,
  type RunStatus
} from './progress';
import { LearningRate } from './learning-rate';
import { validate } from '../../api/events';
import { System } from './system';
import type { RunEvent } from './source';

export type { EpochRow } from './epochs';
export type { MetricCurves } from './metrics';
export type { RunStatus } from './progress';

function newParts() {
  return {
    metrics: new Metrics(),
    table: new Epochs(),
    rate: new LearningRate(),
    pace: new Throughput(),
    marks: new Marks(),
    health: new Health(),
    system: new System(),
    ...tabParts()
  };
}

type Parts = ReturnType<typeof newParts>;

/** Views of the reducers by name. */
export type PartViews = {
  readonly [name in keyof Parts]: Parts[name] extends Reducer<infer View>
    ? View
    : never;
};

export type RunSnapshot = ProgressView & PartViews;

export class RunState {
  private _progress = new Progress();
  private _parts = newParts();
  private _all = this._list();

  apply(given: RunEvent): void {
    const event = validate('RunEvent', given);
    if (event === null) {
      return;
    }
    if (event.kind === 'reset') {
      this._progress = new Progress();
      this._parts = newParts();
      this._all = this._list();
    } else {
      this._all.forEach(part => part.apply(event));
    }
  }

  snapshot(alive: boolean): RunSnapshot {
    const progress = this._progress.view();
    const views = Object.fromEntries(
      Object.entries(this._parts).map(([name, part]) => [name, part.view()])
    ) as unknown as PartViews;
    return {
      ...progress,
      ...views,
      status: statusOf(progress, alive),
      remaining: alive ? progress.remaining : null
    };
  }

  private _list(): Reducer<unknown>[] {
    return [this._progress, ...Object.values(this._parts)];
  }
}

/** A run that has started but not ended, and whose process has ended, is lost. */
function statusOf({ status }: ProgressView, alive: boolean): RunStatus {
  return isGoing(status) && !alive ? 'lost' : status;
}
