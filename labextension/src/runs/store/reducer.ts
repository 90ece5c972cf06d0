// Reducer of a run's events: receives all of them and keeps what its view needs, within bounds.

import type { RunEvent } from './source';

export interface Reducer<View> {
  /** Receives events in order; a `start` drops data after its step. A `reset` creates new reducers. */
  apply(event: RunEvent): void;
  /** Returns the same object until something has changed. */
  view(): View;
}
