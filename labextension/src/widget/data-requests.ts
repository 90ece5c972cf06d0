// Numbered requests to Python over the messages of a widget, and their answers.

import type { AnyModel } from '@anywidget/types';
import type { WidgetReply } from '../api/editor';
import type { Translator } from '../ui/translator';

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

/** Requests that the kernel has at a time: it answers one after the other, and what is given up meanwhile is never sent. */
const PARALLEL = 2;

export class DataRequests {
  private readonly _waiting = new Map<string, Waiting>();
  private readonly _queue: (() => void)[] = [];
  /** Prefix of request ids, since every page receives every reply. */
  private readonly _page = Math.random().toString(36).slice(2);
  private _count = 0;

  constructor(
    private readonly _model: AnyModel,
    private readonly _trans: Translator
  ) {
    _model.on('msg:custom', this._onMessage);
    _model.on('comm_live_update', this._rejectAll);
  }

  dispose(): void {
    this._model.off('msg:custom', this._onMessage);
    this._model.off('comm_live_update', this._rejectAll);
    this._rejectAll();
  }

  send<T>(name: string, fields: object = {}, signal?: AbortSignal): Promise<T> {
    const id = `${this._page}-${++this._count}`;
    return new Promise<T>((resolve, reject) => {
      this._queue.push(() => {
        if (signal?.aborted) {
          reject(new DOMException('Given up', 'AbortError'));
          return;
        }
        this._waiting.set(id, {
          resolve: result => resolve(result as T),
          reject
        });
        this._model.send({ type: 'request', id, name, ...fields });
      });
      this._sendNext();
    });
  }

  private _sendNext(): void {
    while (this._waiting.size < PARALLEL && this._queue.length) {
      this._queue.shift()?.();
    }
  }

  private readonly _onMessage = (message: WidgetReply): void => {
    const waiting =
      message.type === 'reply' ? this._waiting.get(message.id) : undefined;
    if (!waiting) {
      return;
    }
    this._waiting.delete(message.id);
    if (message.error !== undefined) {
      waiting.reject(new Error(message.error));
    } else {
      waiting.resolve(message.result);
    }
    this._sendNext();
  };

  /** Rejects all pending requests, since the kernel or the widget has ended. */
  private readonly _rejectAll = (): void => {
    const pending = [...this._waiting.values()];
    this._waiting.clear();
    pending.forEach(({ reject }) =>
      reject(
        new Error(this._trans.__('The kernel of this data set has ended.'))
      )
    );
    this._sendNext();
  };
}
