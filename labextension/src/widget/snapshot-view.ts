// Snapshot of a widget, for pages without its kernel: a picture or a text, and a line that says what it is.

import type { AnyModel } from '@anywidget/types';
import type { Translator } from '../ui/translator';
import { pageTranslator } from './page-translator';

/** Snapshot in the state of a widget, empty if there is nothing to show. */
export interface Snapshot {
  /** SVG. */
  picture?: string;
  text?: string;
}

interface SnapshotTraits {
  _snapshot?: Snapshot;
}

/** Entry point of anywidget for widgets without a kernel. */
export default function snapshotWidget() {
  return {
    render({ model, el }: { model: AnyModel; el: HTMLElement }): () => void {
      const view = document.createElement('figure');
      view.className = 'labdl-snapshot';
      const draw = () => {
        const saved = (model as AnyModel<SnapshotTraits>).get('_snapshot');
        view.replaceChildren(...contents(saved ?? {}, pageTranslator(model)));
      };
      draw();
      model.on('change:_snapshot', draw);
      el.append(view);
      return () => {
        model.off('change:_snapshot', draw);
        view.remove();
      };
    }
  };
}

function contents(
  { picture, text }: Snapshot,
  trans: Translator
): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (text) {
    const words = document.createElement('pre');
    words.textContent = text;
    parts.push(words);
  }
  if (picture) {
    // Scripts do not run in an image.
    const image = document.createElement('img');
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}`;
    image.alt = trans.__('Saved picture');
    parts.push(image);
  }
  const caption = document.createElement('figcaption');
  caption.textContent = trans.__(
    'Saved output without its kernel: run the notebook for the live view.'
  );
  return [...parts, caption];
}
