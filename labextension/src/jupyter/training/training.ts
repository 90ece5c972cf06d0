// Training of one document: settings, saving, kernel, and run.

import { VDomModel } from '@jupyterlab/ui-components';
import { Contents } from '@jupyterlab/services';
import { ReadonlyJSONObject } from '@lumino/coreutils';

import { sameJson } from '../../editor';
import { execute, ExecutionProblem } from './kernel';
import { LabRunSource } from '../runs/run-source';
import { TrainingKernels } from './training-kernels';
import { TrainingPreview } from './training-preview';
import type {
  Shape,
  TrainingChoices,
  TrainingSettings
} from './training-settings';
import { movedPath } from './training-state';
import type {
  ChosenFile,
  Phase,
  TrainingOptions,
  TrainingState
} from './training-state';

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
      isTraining: () => this.busy,
      names: state.kernels,
      trans
    });
    this.kernels.changed.connect(this._onKernels, this);
    this.preview = new TrainingPreview({
      api,
      path: () => services.contents.localPath(this.path),
      graph: () => options.graphOf(this.path)
    });
    this.preview.changed.connect(this._emitChanged, this);
    if (this._state.run) {
      this._followRun(this._state.run);
    }
    options.services.contents.fileChanged.connect(this._onFileChanged, this);
    void this.refresh();
  }

  get path(): string {
    return this._state.path;
  }

  /** Settings of the last run. */
  get settings(): TrainingSettings | null {
    return this._state.settings;
  }

  /** Settings in the form. */
  get draft(): TrainingSettings | null {
    return this._state.draft ?? this._state.settings;
  }

  /** Code of the active run, or of the one that the form would start. */
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

  /** Whether a run of this document is active. */
  get busy(): boolean {
    return this._phase !== 'idle' || this._source?.live === true;
  }

  get state(): TrainingState {
    return this._state;
  }

  toJSON(): ReadonlyJSONObject {
    return this._state as unknown as ReadonlyJSONObject;
  }

  /** Requests the choices again, since a backend may have been installed in the meantime. */
  async refresh(): Promise<void> {
    try {
      this._choices = await this._options.api.choices();
      this._problem = null;
    } catch (error) {
      this._fail(error);
    }
    this._emitChanged();
  }

  /** Shows the code of these settings; null while they are incomplete. */
  show(settings: TrainingSettings | null): void {
    this.preview.show(settings);
    if (settings) {
      this.kernels.use(settings.backend);
      this._state = { ...this._state, draft: settings };
      this._emitChanged();
    }
  }

  /** A data file that another view has chosen, a new object for each choice. */
  get chosen(): ChosenFile | null {
    return this._chosen;
  }

  /** Chooses a data file, by its path from the document's folder; what it contains is read again. */
  choose(dataset: string): void {
    this._chosen = { dataset };
    this.preview.refresh();
    this._emitChanged();
  }

  /** Sets the shape of the model's only input; null if it has several, or cannot be edited. */
  get setInputShape(): ((shape: Shape) => void) | null {
    const graph = this._options.graphOf(this.path);
    const inputs = Object.entries(graph?.snapshot().nodes ?? {}).filter(
      ([, node]) => node.type === 'Input'
    );
    return graph && inputs.length === 1 && !graph.lock.state()
      ? shape => graph.setParam(inputs[0][0], 'shape', shape)
      : null;
  }

  async train(settings: TrainingSettings): Promise<void> {
    if (this.busy) {
      return;
    }
    this._problem = null;
    this._state = { ...this._state, settings };
    try {
      this._setPhase('saving');
      await this._options.save(this.path);
      const { code, run, problems } = await this.preview.take(settings);
      if (problems.length) {
        throw new Error(problems[0]);
      }
      this._setPhase('starting');
      const kernel = await this.kernels.connect(settings.backend);
      this._state = { ...this._state, code, run };
      this._followRun(run);
      this._setPhase('executing');
      this._problem = this._explain(await execute(kernel, code));
      if (this._problem && this._source?.live === null) {
        this._clearRun(); // it failed before it had written anything
      }
    } catch (error) {
      this._fail(error);
    }
    this._setPhase('idle');
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

  private _explain(problem: ExecutionProblem | null): ExecutionProblem | null {
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

  private _followRun(run: string): void {
    this._source?.dispose();
    this._source = new LabRunSource(run, this._options.api);
    this._source.liveChanged.connect(this._refreshWhenDone, this);
  }

  /** Whether a run is active, including one of which the server has no information yet. */
  private get _mayLive(): boolean {
    return this._source !== null && this._source.live !== false;
  }

  /** A finished run has changed the parameters, and the next one needs a new name. */
  private _refreshWhenDone(): void {
    if (!this.busy && !this._mayLive) {
      this.preview.refresh();
    }
    this._emitChanged();
  }

  private _onKernels(): void {
    const { names } = this.kernels;
    if (names !== this._state.kernels) {
      this._state = { ...this._state, kernels: names };
    }
    this._emitChanged();
  }

  private _clearRun(): void {
    this._source?.dispose();
    this._source = null;
    this._state = { ...this._state, run: null };
  }

  private _setPhase(phase: Phase): void {
    this._phase = phase;
    this._emitChanged();
  }

  private _fail(error: unknown): void {
    this._problem = {
      message: error instanceof Error ? error.message : String(error),
      traceback: ''
    };
  }

  private _emitChanged(): void {
    if (!this.isDisposed) {
      this.stateChanged.emit();
    }
  }

  /** Follows the document to its new name. */
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
      this._followRun(newRun);
    }
    this._emitChanged();
  }

  readonly kernels: TrainingKernels;
  readonly preview: TrainingPreview;
  private readonly _options: TrainingOptions;
  private _state: TrainingState;
  private _choices: TrainingChoices | null = null;
  private _chosen: ChosenFile | null = null;
  private _phase: Phase = 'idle';
  private _problem: ExecutionProblem | null = null;
  private _source: LabRunSource | null = null;
}
