// One document's training: settings, saving, the kernel, and the run that comes of it.

import { VDomModel } from '@jupyterlab/ui-components';
import { Contents, ServiceManager, Session } from '@jupyterlab/services';
import { PathExt } from '@jupyterlab/coreutils';
import { ReadonlyJSONObject } from '@lumino/coreutils';

import type { Translator } from '../editor';
import { LabDLApi, TrainingChoices, TrainingSettings } from './api';
import {
  connectKernel,
  execute,
  ExecutionProblem,
  sessionPath
} from './kernel';
import { LabRunSource } from './run-source';

export type Phase = 'idle' | 'saving' | 'starting' | 'executing';

/** What a refreshed page needs to show the same panel again. */
export interface TrainingState {
  path: string;
  run: string | null;
  code: string | null;
  settings: TrainingSettings | null;
}

export interface TrainingOptions {
  state: TrainingState;
  api: LabDLApi;
  services: ServiceManager.IManager;
  /** Saves the document if somebody has it open. */
  save: (path: string) => Promise<void>;
  trans: Translator;
}

export class Training extends VDomModel {
  constructor(options: TrainingOptions) {
    super();
    this._options = options;
    this._state = options.state;
    if (this._state.run) {
      this._watch(this._state.run);
    }
    options.services.contents.fileChanged.connect(this._onFileChanged, this);
    void this.refresh();
  }

  get path(): string {
    return this._state.path;
  }

  get settings(): TrainingSettings | null {
    return this._state.settings;
  }

  get code(): string | null {
    return this._state.code;
  }

  get source(): LabRunSource | null {
    return this._source;
  }

  get choices(): TrainingChoices | null {
    return this._choices;
  }

  get phase(): Phase {
    return this._phase;
  }

  get problem(): ExecutionProblem | null {
    return this._problem;
  }

  /** Whether a run of this document is under way. */
  get busy(): boolean {
    return this._phase !== 'idle' || this._source?.live === true;
  }

  toJSON(): ReadonlyJSONObject {
    return this._state as unknown as ReadonlyJSONObject;
  }

  /** Ask the server again what can be trained with: a backend may have been installed meanwhile. */
  async refresh(): Promise<void> {
    try {
      this._choices = await this._options.api.choices();
      this._problem = null;
    } catch (error) {
      this._fail(error);
    }
    this._changed();
  }

  async train(settings: TrainingSettings): Promise<void> {
    if (this.busy) {
      return;
    }
    this._problem = null;
    this._state = { ...this._state, settings };
    try {
      this._enter('saving');
      await this._options.save(this.path);
      const { code, run } = await this._options.api.trainingCode(
        this.path,
        settings
      );
      this._enter('starting');
      const kernel = await this._kernel(settings.backend);
      this._state = { ...this._state, code, run };
      this._watch(run);
      this._enter('executing');
      this._problem = await execute(kernel, code);
      if (this._problem && this._source?.live === null) {
        this._forget(); // it failed before there was anything to see
      }
    } catch (error) {
      this._fail(error);
    }
    this._enter('idle');
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._source?.dispose();
      // the kernel goes on: a run does not end because somebody closed its panel
      this._session?.dispose();
      super.dispose();
    }
  }

  private async _kernel(backend: string) {
    this._session?.dispose();
    this._session = await connectKernel(
      this._options.services,
      this.path,
      backend
    );
    const kernel = this._session.kernel;
    if (!kernel) {
      throw new Error(
        this._options.trans.__(
          'The kernel for this model could not be started: start training again.'
        )
      );
    }
    return kernel;
  }

  private _watch(run: string): void {
    this._source?.dispose();
    this._source = new LabRunSource(run, this._options.api);
    this._source.liveChanged.connect(this._changed, this);
  }

  private _forget(): void {
    this._source?.dispose();
    this._source = null;
    this._state = { ...this._state, run: null };
  }

  private _enter(phase: Phase): void {
    this._phase = phase;
    this._changed();
  }

  private _fail(error: unknown): void {
    this._problem = {
      message: error instanceof Error ? error.message : String(error),
      traceback: ''
    };
  }

  private _changed(): void {
    if (!this.isDisposed) {
      this.stateChanged.emit();
    }
  }

  /** Follow the document to its new name. */
  private _onFileChanged(
    _sender: Contents.IManager,
    change: Contents.IChangedArgs
  ): void {
    const from = change.oldValue?.path;
    const to = change.newValue?.path;
    if (change.type !== 'rename' || !from || !to) {
      return;
    }
    const moved = (path: string) =>
      path === from
        ? to
        : path.startsWith(`${from}/`)
          ? to + path.slice(from.length)
          : path;
    const { path, run } = this._state;
    const newPath = moved(path);
    const newRun = run && moved(run);
    if (newPath === path && newRun === run) {
      return;
    }
    this._state = { ...this._state, path: newPath, run: newRun };
    if (this._session && this.settings) {
      const name = sessionPath(newPath, this.settings.backend);
      void this._session
        .setPath(name)
        .then(() => this._session?.setName(PathExt.basename(name)));
    }
    if (newRun && newRun !== run) {
      this._watch(newRun);
    }
    this._changed();
  }

  private readonly _options: TrainingOptions;
  private _state: TrainingState;
  private _choices: TrainingChoices | null = null;
  private _phase: Phase = 'idle';
  private _problem: ExecutionProblem | null = null;
  private _source: LabRunSource | null = null;
  private _session: Session.ISessionConnection | null = null;
}
