// The one store behind a dashboard: events in at any rate, at most one new snapshot a frame out.

import { PendingCommands } from './pending-commands';
import { RunState, type RunSnapshot } from './run-state';
import type { CommandValue, RunCommand, RunEvent, RunSource } from './source';

export interface RunView extends RunSnapshot {
  /** The commands that the run has not acknowledged yet. */
  readonly pending: readonly RunCommand[];
  /** Why the last command did not reach the run, or was refused. */
  readonly trouble: string | null;
  /** Browser time (ms) at which the last events came: from there on a running clock is extrapolated. */
  readonly receivedAt: number;
}

export class RunStore {
  private readonly _state = new RunState();
  private readonly _commands = new PendingCommands();
  private readonly _listeners = new Set<() => void>();
  private _alive = true;
  private _receivedAt = 0;
  private _scheduled = false;
  private _looking = 0;
  private _leave: (() => void) | null = null;
  private _hasHeard = false;
  private _view: RunView;

  constructor(
    private readonly _schedule: (flush: () => void) => void = flush => {
      requestAnimationFrame(flush);
    },
    private readonly _now: () => number = () => Date.now()
  ) {
    this._view = this._build();
  }

  /** Hear a run as long as somebody looks; what was heard stays. Returns the end of the looking. */
  follow(source: RunSource): () => void {
    this._looking++;
    this._leave ??= this._subscribed(source);
    return () => {
      if (!--this._looking) {
        this._leave?.();
        this._leave = null;
      }
    };
  }

  push(events: readonly RunEvent[], alive: boolean): void {
    for (const event of events) {
      this._state.apply(event);
      this._commands.apply(event);
    }
    this._alive = alive;
    this._receivedAt = this._now();
    this._changed();
  }

  /** A source tells everything again: as soon as it does, that takes the place of what was. */
  private _subscribed(source: RunSource): () => void {
    let isAgain = this._hasHeard;
    return source.subscribe((events, alive) => {
      if (isAgain && events.length) {
        isAgain = false;
        this.push([{ kind: 'reset', time: events[0].time }], alive);
      }
      this._hasHeard = this._hasHeard || events.length > 0;
      this.push(events, alive);
    });
  }

  /** A command is about to be sent; an event will acknowledge it. Returns the identity to send it with. */
  commandSent(name: RunCommand, value?: CommandValue): string {
    const id = this._commands.sent(name, value);
    this._changed();
    return id;
  }

  /** `command` failed, or has waited for too long; a command that was acknowledged meanwhile is left alone. */
  commandFailed(command: RunCommand, trouble: string): void {
    if (this._commands.failed(command, trouble)) {
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
      pending: this._commands.pending,
      trouble: this._commands.trouble,
      receivedAt: this._receivedAt
    };
  }
}

const stores = new WeakMap<RunSource, RunStore>();

/** All views of a source share a store: a later one knows at once what was told, also when nobody is there to tell it again. */
export function storeOf(source: RunSource): RunStore {
  let store = stores.get(source);
  if (!store) {
    store = new RunStore();
    stores.set(source, store);
  }
  return store;
}
