// Code of a training that has not started: requested again whenever its inputs change.

import { Debouncer } from '@lumino/polling';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { sameJson } from '../../editor';
import type { GraphDocument } from '../../editor';
import type { LabDLApi } from '../requests';
import {
  DataFileInfo,
  isDataFile,
  TrainingCode,
  TrainingSettings
} from './training-settings';

/** Milliseconds after the last key. */
const WAIT = 250;

export interface PreviewSource {
  api: LabDLApi;
  path: () => string;
  /** The edited graph, if the document is open. */
  graph: () => GraphDocument | undefined;
}

export class TrainingPreview implements IDisposable {
  constructor(private readonly _source: PreviewSource) {
    this._debouncer = new Debouncer(() => this._request(), WAIT);
  }

  /** Emitted when any of the properties below has changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get settings(): TrainingSettings | null {
    return this._settings;
  }

  /** Code and problems; null until the server has answered. */
  get answer(): TrainingCode | null {
    return this._answer;
  }

  /** Data set, if it is in a file. */
  get file(): DataFileInfo | null {
    return this._file;
  }

  /** Reason why there is no code. */
  get problem(): string | null {
    return this._problem;
  }

  get isDisposed(): boolean {
    return this._debouncer.isDisposed;
  }

  dispose(): void {
    this._stopWatching?.();
    this._debouncer.dispose();
    Signal.clearData(this);
  }

  /** Shows the code for these settings; null while they are incomplete. */
  show(settings: TrainingSettings | null): void {
    this._watch();
    if (!sameJson(settings, this._settings)) {
      this._settings = settings;
      this.refresh();
    }
  }

  /** Requests the code again: the model may have changed, and a new run needs a new name. */
  refresh(): void {
    this._isFresh = false;
    if (this._settings && !this.isDisposed) {
      // a superseded request is rejected, which is no error
      this._debouncer.invoke().catch(() => undefined);
    }
  }

  /** Returns the displayed code, for the one run with its name. */
  async take(settings: TrainingSettings): Promise<TrainingCode> {
    void this._debouncer.stop(); // its request is made here
    if (
      !this._isFresh ||
      !sameJson(settings, this._settings) ||
      !this._answer
    ) {
      this._settings = settings;
      await this._request();
    }
    if (!this._answer || !this._isFresh) {
      throw new Error(this._problem ?? '');
    }
    this._isFresh = false;
    return this._answer;
  }

  /** Watches the graph, saved or not, since the problems depend on it. */
  private _watch(): void {
    const graph = this._source.graph();
    if (graph !== this._watched && !this.isDisposed) {
      this._stopWatching?.();
      this._watched = graph;
      this._stopWatching = graph?.subscribe(() => this.refresh());
    }
  }

  private async _request(): Promise<void> {
    const settings = this._settings;
    if (!settings) {
      return;
    }
    const { api, path, graph } = this._source;
    const asked = ++this._asked;
    try {
      const { dataset, target } = settings;
      if (isDataFile(dataset)) {
        await this._readFile(dataset, target);
      } else {
        this._file = null;
      }
      const edited = graph()?.snapshot() ?? null;
      const answer = await api.trainingCode(path(), settings, edited);
      if (asked !== this._asked) {
        return;
      }
      this._answer = answer;
      this._problem = null;
      this._isFresh = true;
    } catch (error) {
      if (asked !== this._asked) {
        return;
      }
      this._problem = error instanceof Error ? error.message : String(error);
    }
    if (!this.isDisposed) {
      this._changed.emit();
    }
  }

  /** Reads the file. Requested each time, since the file may have changed; the server caches it. */
  private async _readFile(name: string, target: string | null): Promise<void> {
    if (this._file && !name.endsWith(this._file.name)) {
      this._file = null;
    }
    const { api, path } = this._source;
    this._file = await api.dataFile(path(), name, target);
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _debouncer: Debouncer<void>;
  private _watched: GraphDocument | undefined;
  private _stopWatching: (() => void) | undefined;
  private _settings: TrainingSettings | null = null;
  private _answer: TrainingCode | null = null;
  private _file: DataFileInfo | null = null;
  private _problem: string | null = null;
  private _isFresh = false;
  private _asked = 0;
}
