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
    this._debouncer = new Debouncer(
      async () => this._settings && this._request(this._settings),
      WAIT
    );
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
    this._asked++; // a request that is under way asks for what is no longer shown
    if (this._settings && !this.isDisposed) {
      // a superseded request is rejected, which is no error; other errors are in `problem`
      this._debouncer.invoke().catch(() => undefined);
    }
  }

  /** Returns the displayed code, for the one run with its name. */
  async take(settings: TrainingSettings): Promise<TrainingCode> {
    void this._debouncer.stop(); // its request is made here
    const isShown = this._isFresh && sameJson(settings, this._settings);
    this._settings = settings;
    const code =
      isShown && this._answer ? this._answer : await this._request(settings);
    this._isFresh = false;
    return code;
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

  /** Requests code for the settings and shows it, unless something newer was requested meanwhile. */
  private async _request(settings: TrainingSettings): Promise<TrainingCode> {
    const { api, path, graph } = this._source;
    const asked = ++this._asked;
    const show = (change: () => void) => {
      if (asked === this._asked) {
        change();
        if (!this.isDisposed) {
          this._changed.emit();
        }
      }
    };
    const { dataset } = settings;
    // a file that cannot be read now keeps its columns: another choice of them may solve the problem
    let file =
      this._file && dataset.endsWith(this._file.name) ? this._file : null;
    try {
      // requested each time, since the file may have changed; the server caches it
      file = isDataFile(dataset)
        ? await api.dataFile(path(), dataset, settings)
        : null;
      const edited = graph()?.snapshot() ?? null;
      const code = await api.trainingCode(path(), settings, edited);
      show(() => {
        this._file = file;
        this._answer = code;
        this._problem = null;
        this._isFresh = true;
      });
      return code;
    } catch (error) {
      show(() => {
        this._file = file;
        this._problem = error instanceof Error ? error.message : String(error);
      });
      throw error;
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _debouncer: Debouncer<TrainingCode | null>;
  private _watched: GraphDocument | undefined;
  private _stopWatching: (() => void) | undefined;
  private _settings: TrainingSettings | null = null;
  private _answer: TrainingCode | null = null;
  private _file: DataFileInfo | null = null;
  private _problem: string | null = null;
  private _isFresh = false;
  private _asked = 0;
}
