// The events of a run over the messages of a widget. Several views share one source, and so one conversation.

import type { AnyModel } from '@anywidget/types';
import { unpack, type PackedEvent } from '../dashboard/packing';
import type {
  RunCommand,
  RunEvent,
  RunListener,
  RunSource
} from '../dashboard/source';

interface EventsMessage {
  type: 'events';
  /** How many events came before these. */
  first: number;
  events: PackedEvent[];
  alive: boolean;
}

export class WidgetRunSource implements RunSource {
  private readonly _listeners = new Set<RunListener>();
  private readonly _events: RunEvent[] = [];
  private _alive = true;
  private _asking = false;

  constructor(private readonly _model: AnyModel) {
    _model.on('msg:custom', this._received);
    // How ipywidgets tells its models that the kernel has gone, restarts included.
    _model.on('comm_live_update', this._connection);
    this._ask();
  }

  dispose(): void {
    this._model.off('msg:custom', this._received);
    this._model.off('comm_live_update', this._connection);
    this._listeners.clear();
  }

  subscribe(listener: RunListener): () => void {
    if (this._events.length || !this._alive) {
      listener(this._events, this._alive);
    }
    this._listeners.add(listener);
    return () => {
      this._listeners.delete(listener);
    };
  }

  async command(name: RunCommand, value?: number): Promise<void> {
    this._model.send({ type: 'command', command: name, value });
  }

  private readonly _received = (
    message: EventsMessage,
    buffers: DataView[]
  ): void => {
    if (message.type !== 'events') {
      return;
    }
    const missing = message.first - this._events.length;
    if (missing > 0) {
      // Sent before this page listened. The answer to one question covers all that is missing.
      this._ask();
      return;
    }
    this._asking = false;
    // Every page gets the answer to any page's question: what is known already is left out.
    const known = -missing;
    const fresh = unpack(message.events, buffers).slice(known);
    if (fresh.length || message.alive !== this._alive) {
      this._alive = message.alive;
      this._tell(fresh);
    }
  };

  /** The event does not say whether the kernel went or came back: take it for gone until it answers. */
  private readonly _connection = (): void => {
    this._asking = false;
    this._alive = false;
    this._tell([]);
    try {
      this._ask();
    } catch {
      // A connection that is closed for good refuses to send: there is nobody to answer.
    }
  };

  private _ask(): void {
    if (!this._asking) {
      this._asking = true;
      this._model.send({ type: 'sync', after: this._events.length });
    }
  }

  private _tell(events: RunEvent[]): void {
    this._events.push(...events);
    this._listeners.forEach(listener => listener(events, this._alive));
  }
}
