// One document's training: settings, saving, the kernel, and the run that comes of it.

import { VDomModel } from '@jupyterlab/ui-components';
import { Contents } from '@jupyterlab/services';
import { ReadonlyJSONObject } from '@lumino/coreutils';

import { sameJson } from '../../editor';
import { execute, ExecutionProblem } from './kernel';
import { LabRunSource } from '../runs/run-source';
import { TrainingKernels } from './training-kernels';
import { TrainingPreview } from './training-preview';
import type { TrainingChoices, TrainingSettings } from './training-settings';
import { movedPath } from './training-state';
import type { Phase, TrainingOptions, TrainingState } from './training-state';

export class Training extends VDomModel {
  constructor(options: TrainingOptions) {
    super();
    const { state, api, services, dialogs, trans } = options;
    this._options = options;
    this._state = state;
    this.kernels = new TrainingKernels({
      services,
      dialogs,
      path: state.path,
      names: state.kernels,
      trans
    });
    this.kernels.changed.connect(this._onKernels, this);
    this.preview = new TrainingPreview({
      api,
      path: () => services.contents.localPath(this.path),
      graph: () => options.graphOf(this.path)
    });
    this.preview.changed.connect(this._changed, this);
    if (this._state.run) {
      this._watch(this._state.run);
    }
    options.services.contents.fileChanged.connect(this._onFileChanged, this);
    void this.refresh();
  }

  get path(): string {
    return this._state.path;
  }

  /** What the last run was trained with. */
  get settings(): TrainingSettings | null {
    return this._state.settings;
  }

  /** What the form shows. */
  get draft(): TrainingSettings | null {
    return this._state.draft ?? this._state.settings;
  }

  /** The code of the run that goes on, or of the one that the form would start. */
  get code(): string | null {
    const { settings, code } = this._state;
    const goesOn =
      this._phase === 'executing' || (this._phase === 'idle' && this._mayLive);
    const isOfRun = goesOn && sameJson(settings, this.preview.settings);
    return isOfRun && code ? code : (this.preview.answer?.code ?? code);
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

  get state(): TrainingState {
    return this._state;
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

  /** Show what these settings would do; null while they are not whole. */
  show(settings: TrainingSettings | null): void {
    this.preview.show(settings);
    if (settings) {
      this.kernels.use(settings.backend);
      this._state = { ...this._state, draft: settings };
      this._changed();
    }
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
      const { code, run, problems } = await this.preview.take(settings);
      if (problems.length) {
        throw new Error(problems[0]);
      }
      this._enter('starting');
      const kernel = await this.kernels.connect(settings.backend);
      this._state = { ...this._state, code, run };
      this._watch(run);
      this._enter('executing');
      this._problem = this._explained(await execute(kernel, code));
      if (this._problem && this._source?.live === null) {
        this._forget(); // it failed before there was anything to see
      }
    } catch (error) {
      this._fail(error);
    }
    this._enter('idle');
    this._refreshWhenDone();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._source?.dispose();
      this.kernels.dispose();
      this.preview.dispose();
      super.dispose();
    }
  }

  private _explained(
    problem: ExecutionProblem | null
  ): ExecutionProblem | null {
    const { trans } = this._options;
    return problem?.lost
      ? {
          message: trans.__(
            'The kernel stopped or was restarted during training. Train again; if it stops each time, try a smaller batch or another kernel.'
          ),
          traceback: ''
        }
      : problem;
  }

  private _watch(run: string): void {
    this._source?.dispose();
    this._source = new LabRunSource(run, this._options.api);
    this._source.liveChanged.connect(this._refreshWhenDone, this);
  }

  /** Whether a run goes on, also one of which the server has not told yet. */
  private get _mayLive(): boolean {
    return this._source !== null && this._source.live !== false;
  }

  /** A run that is over has left parameters, and the next one wants a name of its own. */
  private _refreshWhenDone(): void {
    if (!this.busy && !this._mayLive) {
      this.preview.refresh();
    }
    this._changed();
  }

  private _onKernels(): void {
    const { names } = this.kernels;
    if (names !== this._state.kernels) {
      this._state = { ...this._state, kernels: names };
    }
    this._changed();
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
    const { path, run } = this._state;
    const newPath = movedPath(path, change);
    const newRun = run && movedPath(run, change);
    if (newPath === path && newRun === run) {
      return;
    }
    this._state = { ...this._state, path: newPath, run: newRun };
    if (newPath !== path) {
      this.kernels.move(newPath);
      this.preview.refresh();
    }
    if (newRun && newRun !== run) {
      this._watch(newRun);
    }
    this._changed();
  }

  readonly kernels: TrainingKernels;
  readonly preview: TrainingPreview;
  private readonly _options: TrainingOptions;
  private _state: TrainingState;
  private _choices: TrainingChoices | null = null;
  private _phase: Phase = 'idle';
  private _problem: ExecutionProblem | null = null;
  private _source: LabRunSource | null = null;
}
