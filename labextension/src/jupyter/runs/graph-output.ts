// A model or graph in a cell output: its widget, or the saved picture where the kernel is gone.

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { IDisposable } from '@lumino/disposable';
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
    const { trans, renderer } = this.host;
    const picture =
      savedPicture(model, trans.__('The graph of a model')) ?? textOf(model);
    const saved = new Panel();
    saved.addWidget(picture);
    this.addWidget(saved);
    this._inner = addWidgetOf(
      model,
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
    this._inner = null;
    [...this.widgets].forEach(widget => widget.dispose());
  }

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
