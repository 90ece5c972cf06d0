// A widget that shows its snapshot in pages without its kernel, where a live view would wait for ever.

import type { AnyModel } from '@anywidget/types';
import { stateLanguage } from './page-translator';
import snapshotWidget from './snapshot-view';

export interface View<Model> {
  model: Model;
  el: HTMLElement;
}

export interface WidgetDefinition<Model> {
  initialize(context: { model: Model }): () => void;
  render(view: View<Model>): () => void;
}

/** Entry point of anywidget: the live widget where its kernel is, else its snapshot. */
export function liveOrSnapshot<Model>(live: () => WidgetDefinition<Model>) {
  return () => {
    let render: ((view: View<Model>) => () => void) | undefined;
    return {
      initialize({ model }: { model: Model }): (() => void) | undefined {
        const connected = hasKernel(model as AnyModel);
        const widget = connected ? live() : undefined;
        render = widget?.render ?? (snapshotWidget().render as typeof render);
        if (connected) {
          stateLanguage(model as AnyModel);
        }
        return widget?.initialize({ model });
      },
      render(view: View<Model>): () => void {
        if (!render) {
          throw new Error('The widget was rendered before it was initialized.');
        }
        return render(view);
      }
    };
  };
}

/**
 * Whether the model is connected with a kernel. Models that a page reads from a saved notebook are not, nor are their layouts;
 * anywidget does not show the connection of the model itself. Hosts without layouts have a kernel.
 */
function hasKernel(model: AnyModel): boolean {
  const layout = model.get('layout') as { comm_live?: boolean } | undefined;
  return layout?.comm_live !== false;
}
