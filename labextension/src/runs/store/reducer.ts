// A part of what a run's events say: it is fed all of them and keeps what it needs, within bounds.

import type { RunEvent } from './source';

export interface Reducer<View> {
  /** Events come in order; a `start` forgets what lies behind its step. At a `reset` there are new parts. */
  apply(event: RunEvent): void;
  /** The same object until something has changed. */
  view(): View;
}
