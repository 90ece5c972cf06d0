// Events of a run over the messages of a widget. Several views share one source and its requests.

import type { AnyModel } from '@anywidget/types';
import type * as api from '../api/runs';
import { unpack, type PackedEvent } from '../runs/store/binary-events';
import type {
  CommandValue,
  RunCode,
  RunCommand,
  RunEvent,
  RunListener,
  RunSource
} from '../runs/store/source';

type EventsMessage = Omit<api.EventsMessage, 'events'> & {
  events: PackedEvent[];
};

/** Listener of a run; `count` is the number of events that it has received. */
interface Follower {
  readonly listener: RunListener;
  run: number;
  count: number;
  alive: boolean;
  isNotified: boolean;
}

export class WidgetRunSource implements RunSource {
  private readonly _followers = new Set<Follower>();
  private _asking = false;
  private _codes: ((code: RunCode) => void)[] = [];

  /** `path` selects a run of a folder. */
  constructor(
    private readonly _model: AnyModel,
    private readonly _path?: string
  ) {
    _model.on('msg:custom', this._onMessage);
    // ipywidgets emits this when the kernel has ended, restarts included.
    _model.on('comm_live_update', this._onConnection);
  }

  dispose(): void {
    this._model.off('msg:custom', this._onMessage);
    this._model.off('comm_live_update', this._onConnection);
    this._followers.clear();
  }

  subscribe(listener: RunListener): () => void {
    const follower = {
      listener,
      run: -1,
      count: 0,
      alive: true,
      isNotified: false
    };
    this._followers.add(follower);
    this._requestEvents(follower);
    return () => {
      this._followers.delete(follower);
    };
  }

  async command(
    name: RunCommand,
    value?: CommandValue,
    id?: string
  ): Promise<void> {
    this._send({ type: 'command', command: name, value, id });
  }

  code(): Promise<RunCode> {
    return new Promise(resolve => {
      this._codes.push(resolve);
      this._send({ type: 'code' });
    });
  }

  private readonly _onMessage = (
    message: EventsMessage | api.CodeMessage,
    buffers: DataView[]
  ): void => {
    if (message.path !== this._path) {
      return;
    }
    if (message.type === 'code') {
      this._codes.forEach(resolve => resolve(message.files));
      this._codes = [];
    } else if (message.type === 'events') {
      let events: readonly RunEvent[] | undefined;
      for (const follower of this._followers) {
        this._deliver(follower, message, () => {
          events ??= unpack(message.events, buffers);
          return events;
        });
      }
    }
  };

  private _deliver(
    follower: Follower,
    message: EventsMessage,
    unpacked: () => readonly RunEvent[]
  ): void {
    const { run, first, alive } = message;
    if (run < follower.run) {
      return;
    }
    const next = run > follower.run;
    const known = next ? 0 : follower.count;
    if (first > known) {
      // Events were sent before this page listened. One request is answered with all missing ones.
      this._requestEvents(follower);
      return;
    }
    this._asking = false;
    // Every page receives the answers to all pages: skip known events.
    const fresh = unpacked().slice(known - first);
    if (!fresh.length && alive === follower.alive && follower.isNotified) {
      return;
    }
    if (next && follower.run >= 0) {
      fresh.unshift({ kind: 'reset', time: Date.now() / 1000 });
    }
    if (message.best && fresh.length) {
      const { time } = fresh[fresh.length - 1];
      fresh.push({ kind: 'best', time, best: message.best });
    }
    follower.count = Math.max(known, first + message.events.length);
    follower.run = run;
    follower.alive = alive;
    follower.isNotified = true;
    follower.listener(fresh, alive);
  }

  /** The event does not say whether the kernel ended or returned: assume that it ended until it answers. */
  private readonly _onConnection = (): void => {
    this._asking = false;
    for (const follower of this._followers) {
      follower.alive = false;
      follower.listener([], false);
    }
    const [first] = this._followers;
    if (first) {
      try {
        this._requestEvents(first);
      } catch {
        // A closed connection refuses to send, and there is no kernel that could answer.
      }
    }
  };

  /** Requests events. All followers receive the answer, so one pending request is enough, except for new followers. */
  private _requestEvents(follower: Follower): void {
    if (!this._asking || follower.count === 0) {
      this._asking = true;
      const { run, count } = follower;
      this._send({ type: 'sync', run, after: count });
    }
  }

  private _send(
    message: api.SyncRequest | api.CommandRequest | api.CodeRequest
  ): void {
    this._model.send(
      this._path === undefined ? message : { ...message, path: this._path }
    );
  }
}
