// Folds the events of a run into what the dashboard shows: a part for each thing that is shown.

import { tabParts, type Part } from './parts';
import { Epochs } from './parts/epochs';
import { Health } from './parts/health';
import { Marks } from './parts/marks';
import { Metrics } from './parts/metrics';
import { Paces } from './parts/pace';
import { Progress, type ProgressView, type RunStatus } from './parts/progress';
import { Rate } from './parts/rate';
import { sound } from './parts/sound';
import { System } from './parts/system';
import type { RunEvent } from './source';

export type { EpochRow } from './parts/epochs';
export type { MetricCurves } from './parts/metrics';
export type { RunStatus } from './parts/progress';

function newParts() {
  return {
    metrics: new Metrics(),
    table: new Epochs(),
    rate: new Rate(),
    pace: new Paces(),
    marks: new Marks(),
    health: new Health(),
    system: new System(),
    ...tabParts()
  };
}

type Parts = ReturnType<typeof newParts>;

/** What each part shows, by its name. */
export type PartViews = {
  readonly [name in keyof Parts]: Parts[name] extends Part<infer View>
    ? View
    : never;
};

export type RunSnapshot = ProgressView & PartViews;

export class RunState {
  private _progress = new Progress();
  private _parts = newParts();
  private _all = this._list();

  apply(given: RunEvent): void {
    const event = sound(given);
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

  private _list(): Part<unknown>[] {
    return [this._progress, ...Object.values(this._parts)];
  }
}

/** A run that has begun and not ended, and whose process is gone, is lost. */
function statusOf({ status }: ProgressView, alive: boolean): RunStatus {
  const isGoing =
    status === 'running' || status === 'paused' || status === 'stopping';
  return isGoing && !alive ? 'lost' : status;
}
