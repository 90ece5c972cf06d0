// The code of a training that has not begun: asked for again whenever what it is made of changes.

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
  /** The graph as it is being edited, if somebody has the document open. */
  graph: () => GraphDocument | undefined;
}

export class TrainingPreview implements IDisposable {
  constructor(private readonly _source: PreviewSource) {
    this._debouncer = new Debouncer(() => this._ask(), WAIT);
  }

  /** Emitted when any of the below is another. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get settings(): TrainingSettings | null {
    return this._settings;
  }

  /** The code, and what does not fit; null until the server has answered. */
  get answer(): TrainingCode | null {
    return this._answer;
  }

  /** The data set, where it lies in a file. */
  get file(): DataFileInfo | null {
    return this._file;
  }

  /** Why there is no code. */
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

  /** Show the code for these settings; null while they are not whole. */
  show(settings: TrainingSettings | null): void {
    this._watch();
    if (!sameJson(settings, this._settings)) {
      this._settings = settings;
      this.refresh();
    }
  }

  /** Ask again: the model may be another, and a run needs a name of its own. */
  refresh(): void {
    this._isFresh = false;
    if (this._settings && !this.isDisposed) {
      // one that is overtaken by another is not an error
      this._debouncer.invoke().catch(() => undefined);
    }
  }

  /** The code that is shown, for the one run that bears its name. */
  async take(settings: TrainingSettings): Promise<TrainingCode> {
    void this._debouncer.stop(); // what it would ask for is asked for here
    if (
      !this._isFresh ||
      !sameJson(settings, this._settings) ||
      !this._answer
    ) {
      this._settings = settings;
      await this._ask();
    }
    if (!this._answer || !this._isFresh) {
      throw new Error(this._problem ?? '');
    }
    this._isFresh = false;
    return this._answer;
  }

  /** What fits depends on the graph, also on one that has not been saved. */
  private _watch(): void {
    const graph = this._source.graph();
    if (graph !== this._watched && !this.isDisposed) {
      this._stopWatching?.();
      this._watched = graph;
      this._stopWatching = graph?.subscribe(() => this.refresh());
    }
  }

  private async _ask(): Promise<void> {
    const settings = this._settings;
    if (!settings) {
      return;
    }
    const { api, path, graph } = this._source;
    const asked = ++this._asked;
    try {
      const { dataset, target } = settings;
      if (isDataFile(dataset)) {
        await this._look(dataset, target);
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

  /** What is in the file; asked each time, because others may write it, and the server remembers it. */
  private async _look(name: string, target: string | null): Promise<void> {
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
