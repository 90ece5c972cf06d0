// The saved picture of an output, and the widget that replaces it where the kernel still exists.

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { DisposableDelegate, IDisposable } from '@lumino/disposable';
import { Panel, Widget } from '@lumino/widgets';

const PICTURE = 'image/svg+xml';
const WIDGET = 'application/vnd.jupyter.widget-view+json';

/** Milliseconds between two looks for the kernel's renderer of widgets, and the most of them. */
const [INTERVAL, LOOKS] = [300, 400];

/** The renderer of another MIME type, from the notebook around a widget. */
export interface FoundRenderer {
  readonly factory: unknown;
  create(): IRenderMime.IRenderer;
}

export type FindRenderer = (
  mimeType: string,
  inside: Widget
) => FoundRenderer | null;

/** The picture of an output, null if it has none. */
export function savedPicture(
  model: IRenderMime.IMimeModel | null,
  description: string
): Widget | null {
  const svg = model?.data[PICTURE];
  if (!svg) {
    return null;
  }
  // Scripts do not run in an image, so pictures of untrusted notebooks are safe.
  const text = Array.isArray(svg) ? svg.join('') : `${svg as string}`;
  const image = document.createElement('img');
  image.className = 'labdl-RunOutput-picture';
  image.alt = description;
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  return new Widget({ node: image });
}

/**
 * Adds the output's widget, which replaces the picture as soon as it shows an element that `selector` matches.
 *
 * ipywidgets replaces the renderer of a notebook when its kernel is there, and passes the kernel on to the renderers that it
 * finds in the outputs, of which this one is none: until then the widget is added again by each new renderer.
 */
export function addWidgetOf(
  model: IRenderMime.IMimeModel | null,
  panel: Panel,
  picture: Widget | null,
  findRenderer: FindRenderer,
  selector: string
): IDisposable | null {
  if (!model?.data[WIDGET] || !findRenderer(WIDGET, panel)) {
    return null;
  }
  let factory: unknown = null;
  let inner: IRenderMime.IRenderer | null = null;
  let looks = 0;
  const observer = new MutationObserver(() => {
    if (inner?.node.querySelector(selector)) {
      finish();
      inner.node.hidden = false;
      picture?.dispose();
    }
  });
  const finish = () => {
    observer.disconnect();
    clearInterval(timer);
  };
  const look = () => {
    const found = findRenderer(WIDGET, panel);
    if (found && found.factory !== factory) {
      factory = found.factory;
      inner?.dispose();
      inner = found.create();
      inner.node.hidden = picture !== null;
      observer.observe(inner.node, { childList: true, subtree: true });
      panel.addWidget(inner as unknown as Widget);
      void inner.renderModel(model);
    }
    looks += 1;
    if (looks === LOOKS) {
      clearInterval(timer);
    }
  };
  const timer = setInterval(look, INTERVAL);
  look();
  return new DisposableDelegate(() => {
    finish();
    inner?.dispose();
  });
}
