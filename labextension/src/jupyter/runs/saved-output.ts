// The saved picture of an output, and the widget that replaces it where the kernel still exists.

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { DisposableDelegate, IDisposable } from '@lumino/disposable';
import { Panel, Widget } from '@lumino/widgets';

const PICTURE = 'image/svg+xml';
const WIDGET = 'application/vnd.jupyter.widget-view+json';

/** Renderer of another MIME type, from the notebook around a widget. */
export type FindRenderer = (
  mimeType: string,
  inside: Widget
) => IRenderMime.IRenderer | null;

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

/** Adds the output's widget, which replaces the picture as soon as it shows an element that `selector` matches. */
export function addWidgetOf(
  model: IRenderMime.IMimeModel | null,
  panel: Panel,
  picture: Widget | null,
  findRenderer: FindRenderer,
  selector: string
): IDisposable | null {
  const inner = model?.data[WIDGET] ? findRenderer(WIDGET, panel) : null;
  if (!model || !inner) {
    return null;
  }
  inner.node.hidden = picture !== null;
  const observer = new MutationObserver(() => {
    if (inner.node.querySelector(selector)) {
      observer.disconnect();
      inner.node.hidden = false;
      picture?.dispose();
    }
  });
  observer.observe(inner.node, { childList: true, subtree: true });
  panel.addWidget(inner as unknown as Widget);
  void inner.renderModel(model);
  return new DisposableDelegate(() => {
    observer.disconnect();
    inner.dispose();
  });
}
