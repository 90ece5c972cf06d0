// State of a dashboard: accepts events at any rate, emits at most one snapshot per frame.

import { PendingCommands } from './pending-commands';
import { RunState, type RunSnapshot } from './run-state';
import type { CommandValue, RunCommand, RunEvent, RunSource } from './source';

export interface RunView extends RunSnapshot {
  /** Commands that the run has not acknowledged yet. */
  readonly pending: readonly RunCommand[];
  /** Error of the last command, or the reason why it was refused. */
  readonly trouble: string | null;
  /** Whether the folder of the run is gone, and only what was read from it is left. */
  readonly isGone: boolean;
  /** Browser time (ms) of the last events, from which a running clock is extrapolated. */
  readonly receivedAt: number;
}

export class RunStore {
  private readonly _state = new RunState();
  private readonly _commands = new PendingCommands();
  private readonly _listeners = new Set<() => void>();
  private _alive: boolean | null = true;
  private _receivedAt = 0;
  private _scheduled = false;
  private _viewers = 0;
  private _unsubscribe: (() => void) | null = null;
  private _hasEvents = false;
  private _view: RunView;

  constructor(
    private readonly _schedule: (flush: () => void) => void = flush => {
      requestAnimationFrame(flush);
    },
    private readonly _now: () => number = () => Date.now()
  ) {
    this._view = this._build();
  }

  /** Subscribes to the run while there are viewers; its state is kept. Returns a function that removes this viewer. */
  follow(source: RunSource): () => void {
    this._viewers++;
    this._unsubscribe ??= this._connect(source);
    return () => {
      if (!--this._viewers) {
        this._unsubscribe?.();
        this._unsubscribe = null;
      }
    };
  }

  push(events: readonly RunEvent[], alive: boolean | null): void {
    for (const event of events) {
      this._state.apply(event);
      this._commands.apply(event);
    }
    this._alive = alive;
    this._receivedAt = this._now();
    this._scheduleUpdate();
  }

  /** A new subscription sends all events again: the first ones replace the previous state. */
  private _connect(source: RunSource): () => void {
    let isAgain = this._hasEvents;
    return source.subscribe((events, alive) => {
      if (isAgain && events.length) {
        isAgain = false;
        this.push([{ kind: 'reset', time: events[0].time }], alive);
      }
      this._hasEvents = this._hasEvents || events.length > 0;
      this.push(events, alive);
    });
  }

  /** Records a command that is about to be sent; returns the id to send it with. */
  commandSent(name: RunCommand, value?: CommandValue): string {
    const id = this._commands.sent(name, value);
    this._scheduleUpdate();
    return id;
  }

  /** Records that a command failed or timed out, unless it was acknowledged in the meantime. */
  commandFailed(command: RunCommand, trouble: string): void {
    if (this._commands.failed(command, trouble)) {
      this._scheduleUpdate();
    }
  }

  subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => {
      this._listeners.delete(listener);
    };
  };

  view = (): RunView => this._view;

  private _scheduleUpdate(): void {
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
      ...this._state.snapshot(this._alive === true),
      isGone: this._alive === null,
      pending: this._commands.pending,
      trouble: this._commands.trouble,
      receivedAt: this._receivedAt
    };
  }
}

const stores = new WeakMap<RunSource, RunStore>();

/** Store shared by all views of a source, so that a later view has its state even if the source is gone. */
export function storeOf(source: RunSource): RunStore {
  let store = stores.get(source);
  if (!store) {
    store = new RunStore();
    stores.set(source, store);
  }
  return store;
}
