// A run in a cell output: live from its folder if available, else the widget, else the saved snapshot.

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { IDisposable } from '@lumino/disposable';
import { Panel, Widget } from '@lumino/widgets';
import { createRoot, type Root } from 'react-dom/client';

import { RunsView } from '../../runs/compare/RunsView';
import { takesRowKey } from '../../runs/compare/useRowKeys';
import { Dashboard } from '../../runs/dashboard/Dashboard';
import type { RunEvent } from '../../runs/store/source';
import type { Translator } from '../../editor';
import { keepKeys } from '../../ui/host-keys';
import type { LabDLApi } from '../requests';
import { fetchFinalSnapshot } from './final-snapshot';
import { addWidgetOf, savedPicture, type FindRenderer } from './saved-output';
import { LabRunSource } from './run-source';
import { LabRunsSource } from './runs-source';

/** MIME types of a run and of a folder of runs. */
export const RUN_OUTPUT = 'application/vnd.labdl.run.v1+json';
export const RUNS_OUTPUT = 'application/vnd.labdl.runs.v1+json';
const PICTURE = 'image/svg+xml';

/** Location of the folder as the kernel saw it. */
export interface OutputPlace {
  folder?: string;
  beside?: string | null;
  /** Whether the snapshot shows the end of the run. */
  final?: boolean;
}

export interface OutputHost {
  readonly api: LabDLApi;
  readonly trans: Translator;
  readonly renderer: FindRenderer;
  /** Opens a run, or a folder of runs, in a panel of its own. */
  open(path: string, isFolder: boolean): void;
}

export class RunOutput extends Panel implements IRenderMime.IRenderer {
  constructor(
    private readonly options: IRenderMime.IRendererOptions,
    private readonly host: OutputHost
  ) {
    super();
    this.addClass('labdl-RunOutput');
    this._releaseKeys = keepKeys(this.node, takesRowKey);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._reset();
      this._releaseKeys();
      super.dispose();
    }
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this._model = model;
    const place = model.data[this.options.mimeType] as OutputPlace | undefined;
    const key = JSON.stringify([place?.folder, place?.beside]);
    if (key === this._key && (this._live || this._isSearching)) {
      return; // a later snapshot of the run that is shown live, now or soon
    }
    this._key = key;
    this._reset();
    this._showPicture();
    this._isSearching = true;
    const path = await this._findFolder(place ?? {});
    if (this.isDisposed || key !== this._key) {
      return;
    }
    this._isSearching = false;
    if (path !== null) {
      this._showLive(path);
    } else {
      this._showWidget();
    }
  }

  private async _findFolder(place: OutputPlace): Promise<string | null> {
    const { resolver } = this.options;
    const notebook = (resolver as { path?: string } | null)?.path ?? '';
    try {
      const several = this.options.mimeType === RUNS_OUTPUT;
      return await this.host.api.findRun({ ...place, notebook, several });
    } catch {
      return null; // no server, or one without our extension
    }
  }

  private _showPicture(): void {
    const words = this.host.trans.__('The curves of a training run');
    this._picture = savedPicture(this._model, words);
    if (this._picture) {
      this.addWidget(this._picture);
    }
  }

  private _showLive(path: string): void {
    const { api, trans } = this.host;
    const frame = new Widget();
    frame.addClass('labdl-RunOutput-live');
    this._root = createRoot(frame.node);
    if (this.options.mimeType === RUNS_OUTPUT) {
      const source = new LabRunsSource(path, api, this.host.open);
      this._source = source;
      this._root.render(<RunsView source={source} trans={trans} />);
    } else {
      const source = new LabRunSource(path, api);
      this._source = source;
      this._unfollow = api.runs.follow(
        path,
        (events, alive) => this._saveAtEnd(path, events, alive),
        ['start', 'end']
      );
      this._root.render(<Dashboard source={source} trans={trans} />);
    }
    this._picture?.dispose();
    this._picture = null;
    this.addWidget(frame);
    this._live = true;
  }

  /** Saves the last snapshot in the notebook, also if the kernel could not send it to this page. */
  private _saveAtEnd(
    path: string,
    events: readonly RunEvent[],
    alive: boolean | null
  ): void {
    const last = events.length ? events[events.length - 1] : null;
    if (alive === false || last?.kind === 'end') {
      void this._saveFinalPicture(path);
    }
  }

  private async _saveFinalPicture(path: string): Promise<void> {
    const key = this._key;
    const place = () =>
      this._model?.data[this.options.mimeType] as OutputPlace | undefined;
    const svg = await fetchFinalSnapshot(
      () => this.host.api.runPicture(path),
      () => !this.isDisposed && key === this._key && place()?.final === false
    );
    const model = this._model;
    if (svg !== null && model) {
      const data = {
        ...model.data,
        [PICTURE]: svg,
        [this.options.mimeType]: { ...place(), final: true }
      };
      model.setData({ data });
    }
  }

  /** Without a folder the kernel may still exist: the widget replaces the snapshot once it shows something. */
  private _showWidget(): void {
    this._inner = addWidgetOf(
      this._model,
      this,
      this._picture,
      this.host.renderer,
      '.labdl-dashboard'
    );
  }

  private _reset(): void {
    this._live = false;
    this._unfollow?.();
    this._source?.dispose();
    this._root?.unmount();
    this._picture?.dispose();
    this._inner?.dispose();
    this._source = this._root = this._picture = this._inner = null;
    [...this.widgets].forEach(widget => widget.dispose());
  }

  private readonly _releaseKeys: () => void;
  private _model: IRenderMime.IMimeModel | null = null;
  private _key: string | null = null;
  private _isSearching = false;
  private _live = false;
  private _picture: Widget | null = null;
  private _inner: IDisposable | null = null;
  private _source: IDisposable | null = null;
  private _root: Root | null = null;
  private _unfollow: (() => void) | null = null;
}
