// A run in the output of a cell: live from its folder where there is one, else the widget, else the picture that was saved.

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { IDisposable } from '@lumino/disposable';
import { Panel, Widget } from '@lumino/widgets';
import { createRoot, type Root } from 'react-dom/client';

import { RunsView } from '../../runs/compare/RunsView';
import { Dashboard } from '../../runs/dashboard/Dashboard';
import type { RunEvent } from '../../runs/store/source';
import type { Translator } from '../../editor';
import type { LabDLApi } from '../requests';
import { fetchFinalSnapshot } from './final-snapshot';
import { LabRunSource } from './run-source';
import { LabRunsSource } from './runs-source';

/** The names of our forms of an output: a run, and a folder of runs. */
export const RUN_OUTPUT = 'application/vnd.labdl.run.v1+json';
export const RUNS_OUTPUT = 'application/vnd.labdl.runs.v1+json';
const PICTURE = 'image/svg+xml';
const WIDGET = 'application/vnd.jupyter.widget-view+json';

/** Where the folder lies, as the kernel saw it. */
export interface OutputPlace {
  folder?: string;
  beside?: string | null;
  /** The picture shows the run as it was in the end. */
  final?: boolean;
}

export interface OutputHost {
  readonly api: LabDLApi;
  readonly trans: Translator;
  /** The renderer of other forms that belongs to the notebook around a widget. */
  renderer(mimeType: string, inside: Widget): IRenderMime.IRenderer | null;
  /** Shows a run, or a folder of runs, in a panel of its own. */
  open(path: string, isFolder: boolean): void;
}

export class RunOutput extends Panel implements IRenderMime.IRenderer {
  constructor(
    private readonly options: IRenderMime.IRendererOptions,
    private readonly host: OutputHost
  ) {
    super();
    this.addClass('labdl-RunOutput');
    // A notebook must not take keys meant for us: Enter on a button would edit the cell, D D would delete it.
    this.node.dataset.lmSuppressShortcuts = 'true';
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._end();
      super.dispose();
    }
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this._model = model;
    const place = model.data[this.options.mimeType] as OutputPlace | undefined;
    const key = JSON.stringify([place?.folder, place?.beside]);
    if (key === this._key && this._live) {
      return; // what has come is a later picture of what is live here
    }
    this._key = key;
    this._end();
    this._showPicture();
    const path = await this._find(place ?? {});
    if (this.isDisposed || key !== this._key) {
      return;
    }
    if (path !== null) {
      this._showLive(path);
    } else {
      this._showWidget();
    }
  }

  private async _find(place: OutputPlace): Promise<string | null> {
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
    const svg = this._model?.data[PICTURE];
    if (!svg) {
      return;
    }
    // As an image it runs no scripts, wherever the notebook comes from.
    const text = Array.isArray(svg) ? svg.join('') : `${svg as string}`;
    const image = document.createElement('img');
    image.className = 'labdl-RunOutput-picture';
    image.alt = this.host.trans.__('The curves of a training run');
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    this._picture = new Widget({ node: image });
    this.addWidget(this._picture);
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

  /** The notebook keeps the last picture, also where the kernel that made it could not tell this page. */
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

  /** Where no folder is in sight the kernel may be: the widget takes the place of the picture as soon as it shows something. */
  private _showWidget(): void {
    const model = this._model;
    const inner = model?.data[WIDGET] ? this.host.renderer(WIDGET, this) : null;
    if (!model || !inner) {
      return;
    }
    const picture = this._picture;
    this._inner = inner;
    inner.node.hidden = picture !== null;
    const observer = new MutationObserver(() => {
      if (inner.node.querySelector('.labdl-dashboard')) {
        observer.disconnect();
        inner.node.hidden = false;
        picture?.dispose();
      }
    });
    observer.observe(inner.node, { childList: true, subtree: true });
    this._observer = observer;
    this.addWidget(inner as unknown as Widget);
    void inner.renderModel(model);
  }

  private _end(): void {
    this._live = false;
    this._observer?.disconnect();
    this._unfollow?.();
    this._source?.dispose();
    this._root?.unmount();
    this._picture?.dispose();
    this._inner?.dispose();
    this._source = this._root = this._picture = this._inner = null;
    [...this.widgets].forEach(widget => widget.dispose());
  }

  private _model: IRenderMime.IMimeModel | null = null;
  private _key: string | null = null;
  private _live = false;
  private _picture: Widget | null = null;
  private _inner: IRenderMime.IRenderer | null = null;
  private _observer: MutationObserver | null = null;
  private _source: IDisposable | null = null;
  private _root: Root | null = null;
  private _unfollow: (() => void) | null = null;
}
