// Comparison of two models in a widget's view.

import type { AnyModel } from '@anywidget/types';
import { createElement } from 'react';
import { takesKey } from '../editor/commands/key-bindings';
import { DiffView } from '../editor/diff/DiffView';
import type { GraphData } from '../editor/model/graph-data';
import type { WidgetEditorHost } from './editor-host';
import type { EditorTraits } from './graph-trait';
import { mountTall } from './mount';
import { pageTranslator } from './page-translator';

/** Traits of the widget with the earlier model. */
export interface DiffTraits extends EditorTraits {
  _old: GraphData;
}

export function isDiff(
  model: AnyModel<EditorTraits>
): model is AnyModel<DiffTraits> {
  return (model as AnyModel<DiffTraits>).get('_old') !== undefined;
}

/** Renders both models; returns a cleanup function. */
export function renderDiff(
  model: AnyModel<DiffTraits>,
  el: HTMLElement,
  host: WidgetEditorHost
): () => void {
  const side = (key: '_old' | '_graph') => {
    const graph = model.get(key);
    return { title: graph.name, caption: graph.name, graph };
  };
  const content = createElement(DiffView, {
    old: side('_old'),
    new: side('_graph'),
    host,
    trans: pageTranslator(model)
  });
  return mountTall(model, el, content, takesKey);
}
