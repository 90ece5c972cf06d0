// Runs of a folder over the messages of a widget.

import type { AnyModel } from '@anywidget/types';
import type {
  ListMessage,
  ListRequest,
  WriteRequest,
  WrittenMessage
} from '../api/runs';
import type {
  About,
  Brief,
  Runs,
  RunsListener,
  RunsSource
} from '../runs/compare/runs-source';
import type { RunSource } from '../runs/store/source';
import { WidgetRunSource } from './run-source';

type Answer = (message: WrittenMessage) => void;

export class WidgetRunsSource implements RunsSource {
  private readonly _listeners = new Set<RunsListener>();
  private readonly _briefs = new Map<string, Brief>();
  private readonly _runs = new Map<string, WidgetRunSource>();
  private readonly _writing = new Map<string, Answer>();
  private _token = '';
  private _list: Runs | null = null;
  private _asking = false;
  private _count = 0;
  /** Prefix of request ids, since every page receives every answer. */
  private readonly _page = Math.random().toString(36).slice(2);

  constructor(private readonly _model: AnyModel) {
    _model.on('msg:custom', this._onMessage);
    this._requestList();
  }

  get folder(): string {
    return this._list?.folder ?? '';
  }

  dispose(): void {
    this._model.off('msg:custom', this._onMessage);
    this._runs.forEach(run => run.dispose());
    this._listeners.clear();
  }

  subscribe(listener: RunsListener): () => void {
    this._listeners.add(listener);
    if (this._list) {
      listener.runs(this._list);
    }
    return () => {
      this._listeners.delete(listener);
    };
  }

  run(path: string): RunSource {
    let run = this._runs.get(path);
    if (!run) {
      run = new WidgetRunSource(this._model, path);
      this._runs.set(path, run);
    }
    return run;
  }

  write(
    path: string,
    words: Partial<About>,
    before: Partial<About>
  ): Promise<About | null> {
    const id = `${this._page}-${++this._count}`;
    return new Promise((resolve, reject) => {
      this._writing.set(id, ({ done, about, error }) => {
        if (error !== undefined || !about) {
          reject(new Error(error));
        } else {
          resolve(done ? null : about);
        }
      });
      const request: WriteRequest = { type: 'write', id, path, words, before };
      this._model.send(request);
    });
  }

  private readonly _onMessage = (
    message: ListMessage | WrittenMessage
  ): void => {
    if (message.type === 'written') {
      this._writing.get(message.id)?.(message);
      this._writing.delete(message.id);
    } else if (message.type === 'runs') {
      this._apply(message);
    }
  };

  private _apply(message: ListMessage): void {
    const { trouble = null } = message;
    this._listeners.forEach(listener => listener.trouble(trouble));
    if (trouble !== null) {
      return;
    }
    if (!message.whole && message.since !== this._token) {
      this._requestList(); // a message in between was sent before this page listened
      return;
    }
    this._asking = false;
    if (message.whole) {
      this._briefs.clear();
    }
    message.gone?.forEach(path => this._briefs.delete(path));
    message.runs?.forEach(run => this._briefs.set(run.path, run));
    this._token = message.token;
    const now = {
      folder: message.folder,
      runs: [...this._briefs.values()],
      group: message.group ?? null,
      truncated: message.truncated ?? null
    };
    this._list = now;
    this._listeners.forEach(listener => listener.runs(now));
  }

  private _requestList(): void {
    if (!this._asking) {
      this._asking = true;
      const request: ListRequest = { type: 'list', token: '' };
      this._model.send(request);
    }
  }
}
