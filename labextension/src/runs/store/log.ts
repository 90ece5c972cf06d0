// Last events of a run for the log, without metrics.

import type { RunEvent } from './source';
import type { Reducer } from './reducer';

const KEPT = 2000;

const TOLD = [
  'start',
  'epoch',
  'validation',
  'status',
  'learning_rate',
  'epochs',
  'checkpoint',
  'branch',
  'command',
  'problem',
  'alert',
  'log',
  'end'
] as const;

export type LoggedEvent = Extract<RunEvent, { kind: (typeof TOLD)[number] }>;

export interface LogLine {
  /** Number of the line, counted over the whole run. */
  readonly number: number;
  readonly event: LoggedEvent;
}

export interface LogView {
  readonly lines: readonly LogLine[];
  /** Number of lines before these. */
  readonly forgotten: number;
}

export class Log implements Reducer<LogView> {
  apply(event: RunEvent): void {
    if (isTold(event)) {
      this._lines.push({ number: ++this._count, event });
      if (this._lines.length >= 2 * KEPT) {
        this._lines = this._lines.slice(-KEPT);
      }
      this._view = null;
    }
  }

  view(): LogView {
    if (!this._view) {
      const lines = this._lines.slice(-KEPT);
      this._view = { lines, forgotten: this._count - lines.length };
    }
    return this._view;
  }

  private _lines: LogLine[] = [];
  private _count = 0;
  private _view: LogView | null = null;
}

function isTold(event: RunEvent): event is LoggedEvent {
  return (TOLD as readonly string[]).includes(event.kind);
}
