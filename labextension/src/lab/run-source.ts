// The events of a run, read from its folder through the server: a refreshed page replays them from the start.

import { IDisposable } from '@lumino/disposable';
import { Poll } from '@lumino/polling';
import { ISignal, Signal } from '@lumino/signaling';

import type {
  RunCommand,
  RunEvent,
  RunListener,
  RunSource
} from '../dashboard/source';
import type { LabDLApi } from './api';

// milliseconds between two questions to the server
const LIVE = 250;
const HIDDEN = 2000;
const MISSING = 1000;
const SILENT = 5000;
/** How often to ask for a run that has not begun before asking becomes rare: frameworks take seconds to load. */
const PATIENCE = 60;
/** The server stops at 4 MiB; an answer about this long says that more waits behind it. */
const MORE_WAITS = 1024 * 1024;

export class LabRunSource implements RunSource, IDisposable {
  constructor(
    readonly path: string,
    private readonly api: LabDLApi
  ) {
    this._poll = new Poll({
      auto: false,
      factory: () => this._read(),
      frequency: { interval: LIVE, backoff: true, max: SILENT },
      name: `labdl:run:${path}`,
      standby: 'when-hidden'
    });
  }

  /** Whether a process works on this run; unknown (null) until the server has answered. */
  get live(): boolean | null {
    return this._live;
  }

  /** Emitted when `live` changes. */
  get liveChanged(): ISignal<this, void> {
    return this._liveChanged;
  }

  get isDisposed(): boolean {
    return this._poll.isDisposed;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._poll.dispose();
      this._listeners.clear();
      Signal.clearData(this);
    }
  }

  subscribe(listener: RunListener): () => void {
    this._listeners.add(listener);
    if (this._events.length) {
      listener([...this._events], this._live ?? true);
    }
    if (this._listeners.size === 1 && !this._ended) {
      void this._poll.start();
    }
    return () => {
      this._listeners.delete(listener);
      if (!this._listeners.size && !this.isDisposed) {
        void this._poll.stop();
      }
    };
  }

  async command(name: RunCommand, value?: number): Promise<void> {
    await this.api.control(this.path, name, value);
    void this._poll.refresh();
  }

  /** Read less often while nobody can see it. */
  setVisible(visible: boolean): void {
    this._visible = visible;
    this._pace();
    if (visible && !this._ended && this._listeners.size) {
      void this._poll.refresh();
    }
  }

  private async _read(): Promise<void> {
    for (;;) {
      const before = this._offset;
      const { offset, events, alive } = await this.api.run(this.path, before, {
        expected: true
      });
      if (this.isDisposed) {
        return;
      }
      this._setMissing(alive === null ? this._missing + 1 : 0);
      if (alive === null) {
        return;
      }
      this._offset = offset;
      this._tell(events, alive);
      if (offset - before < MORE_WAITS) {
        return;
      }
    }
  }

  private _setMissing(times: number): void {
    if (times !== this._missing) {
      this._missing = times;
      this._pace();
    }
  }

  private _tell(events: RunEvent[], alive: boolean): void {
    this._events = this._events.concat(events);
    this._ended = events.some(event => event.kind === 'end') || this._ended;
    const live = alive && !this._ended;
    const changed = live !== this._live;
    this._live = live;
    if (events.length || changed) {
      this._listeners.forEach(listener => listener(events, live));
    }
    if (changed) {
      this._pace();
      this._liveChanged.emit();
    }
    if (this._ended) {
      void this._poll.stop();
    }
  }

  private _pace(): void {
    if (!this.isDisposed) {
      const silent = this._live === false || this._missing > PATIENCE;
      const watched = this._missing ? MISSING : this._visible ? LIVE : HIDDEN;
      const interval = silent ? SILENT : watched;
      this._poll.frequency = { interval, backoff: true, max: SILENT };
    }
  }

  private _poll: Poll;
  private _listeners = new Set<RunListener>();
  private _liveChanged = new Signal<this, void>(this);
  private _events: RunEvent[] = [];
  private _offset = 0;
  private _live: boolean | null = null;
  private _missing = 0;
  private _visible = true;
  private _ended = false;
}
