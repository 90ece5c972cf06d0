// A model or graph in a cell output: its widget, or the saved picture where the kernel is gone.

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { Panel, Widget } from '@lumino/widgets';

import type { Translator } from '../../editor';
import { addWidgetOf, savedPicture, type FindRenderer } from './saved-output';

export const GRAPH_OUTPUT = 'application/vnd.labdl.graph.v1+json';

/** Milliseconds that a kernel has for its widget before the output says that the picture is a saved one. */
const WAIT = 3000;

export interface GraphOutputHost {
  readonly trans: Translator;
  readonly renderer: FindRenderer;
}

export class GraphOutput extends Panel implements IRenderMime.IRenderer {
  constructor(private readonly host: GraphOutputHost) {
    super();
    this.addClass('labdl-RunOutput');
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._reset();
      super.dispose();
    }
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this._reset();
    this._model = model;
    const words = this.host.trans.__('The graph of a model');
    const saved = new Panel();
    saved.addWidget(savedPicture(model, words) ?? textOf(model));
    this.addWidget(saved);
    this._saved = saved;
    if (this.isAttached) {
      this._showWidget();
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._showWidget();
  }

  /** Only in the page: the notebook around the output has the renderer of its kernel's widgets. */
  private _showWidget(): void {
    const { trans, renderer } = this.host;
    const saved = this._saved;
    if (!this._model || !saved || this._inner || saved.isDisposed) {
      return;
    }
    this._inner = addWidgetOf(
      this._model,
      this,
      saved,
      renderer,
      '.labdl-widget, .labdl-snapshot'
    );
    this._timer = setTimeout(() => {
      if (!saved.isDisposed) {
        saved.addWidget(noteOf(trans));
      }
    }, WAIT);
  }

  private _reset(): void {
    clearTimeout(this._timer);
    this._inner?.dispose();
    this._inner = this._saved = this._model = null;
    [...this.widgets].forEach(widget => widget.dispose());
  }

  private _model: IRenderMime.IMimeModel | null = null;
  private _saved: Panel | null = null;
  private _inner: IDisposable | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}

function textOf(model: IRenderMime.IMimeModel): Widget {
  const node = document.createElement('pre');
  const text = model.data['text/plain'] ?? '';
  node.textContent = Array.isArray(text) ? text.join('') : `${text as string}`;
  return new Widget({ node });
}

function noteOf(trans: Translator): Widget {
  const node = document.createElement('p');
  node.className = 'labdl-RunOutput-note';
  node.textContent = trans.__(
    'Saved output without its kernel: run the notebook for the live view.'
  );
  return new Widget({ node });
}
