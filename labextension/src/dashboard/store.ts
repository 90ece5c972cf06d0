// The one store behind a dashboard: events in at any rate, at most one new snapshot a frame out.

import { RunState, type RunSnapshot } from './run-state';
import type { RunCommand, RunEvent } from './source';

export interface RunView extends RunSnapshot {
  /** The commands that the run has not acknowledged yet. */
  readonly pending: readonly RunCommand[];
  /** Why the last command did not reach the run. */
  readonly trouble: string | null;
  /** Browser time (ms) at which the last events came: from there on a running clock is extrapolated. */
  readonly receivedAt: number;
}

const STATUS: readonly RunEvent['kind'][] = ['status', 'end'];

/** The events by which a run acknowledges a command. */
const ANSWERS: Record<RunCommand, readonly RunEvent['kind'][]> = {
  pause: STATUS,
  resume: STATUS,
  stop: STATUS,
  checkpoint: ['checkpoint', 'problem', 'end'],
  learning_rate: ['learning_rate', 'end'],
  add_epochs: ['epochs', 'end']
};

export class RunStore {
  private readonly _state = new RunState();
  private readonly _listeners = new Set<() => void>();
  private _alive = true;
  private _pending: readonly RunCommand[] = [];
  private _trouble: string | null = null;
  private _receivedAt = 0;
  private _scheduled = false;
  private _view: RunView;

  constructor(
    private readonly _schedule: (flush: () => void) => void = flush => {
      requestAnimationFrame(flush);
    },
    private readonly _now: () => number = () => Date.now()
  ) {
    this._view = this._build();
  }

  push(events: readonly RunEvent[], alive: boolean): void {
    for (const event of events) {
      this._state.apply(event);
      const waiting = this._pending.filter(
        command => !ANSWERS[command].includes(event.kind)
      );
      if (
        waiting.length < this._pending.length ||
        STATUS.includes(event.kind)
      ) {
        this._pending = waiting;
        this._trouble = null;
      }
    }
    this._alive = alive;
    this._receivedAt = this._now();
    this._changed();
  }

  /** A command is on its way; an event will acknowledge it. */
  commandSent(command: RunCommand): void {
    this._pending = [...this._pending.filter(c => c !== command), command];
    this._trouble = null;
    this._changed();
  }

  /** `command` failed, or has waited for too long; a command that was acknowledged meanwhile is left alone. */
  commandFailed(command: RunCommand, trouble: string): void {
    if (this._pending.includes(command)) {
      this._pending = this._pending.filter(c => c !== command);
      this._trouble = trouble;
      this._changed();
    }
  }

  subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => {
      this._listeners.delete(listener);
    };
  };

  view = (): RunView => this._view;

  private _changed(): void {
    if (!this._scheduled) {
      this._scheduled = true;
      this._schedule(() => {
        this._scheduled = false;
        this._view = this._build();
        this._listeners.forEach(listener => listener());
      });
    }
  }

  private _build(): RunView {
    return {
      ...this._state.snapshot(this._alive),
      pending: this._pending,
      trouble: this._trouble,
      receivedAt: this._receivedAt
    };
  }
}
