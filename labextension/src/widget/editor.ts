// Graph editor as a widget: one document per model, one React root per view.

import type { AnyModel } from '@anywidget/types';
import { createElement } from 'react';
import * as Y from 'yjs';
import { GraphDocument } from '../editor/model/document';
import { takesKey } from '../editor/commands/key-bindings';
import { Editor } from '../editor/Editor';
import { isDiff, renderDiff } from './diff';
import { WidgetEditorHost } from './editor-host';
import { linkGraph, type EditorTraits } from './graph-trait';
import { liveOrSnapshot } from './live-or-snapshot';
import { mountTall } from './mount';
import { pageTranslator } from './page-translator';

/** Called once per model; its views share the objects created here. */
function editorWidget() {
  let shared: { graph: GraphDocument; host: WidgetEditorHost } | undefined;
  return {
    initialize({ model }: { model: AnyModel<EditorTraits> }) {
      const ydoc = new Y.Doc();
      const graph = new GraphDocument(ydoc);
      const host = new WidgetEditorHost(model);
      const unlink = linkGraph(model, graph);
      shared = { graph, host };
      return () => {
        unlink();
        host.dispose();
        graph.dispose();
        ydoc.destroy();
      };
    },
    render({ model, el }: { model: AnyModel<EditorTraits>; el: HTMLElement }) {
      if (!shared) {
        throw new Error('The editor was rendered before it was initialized.');
      }
      const { graph, host } = shared;
      if (isDiff(model)) {
        return renderDiff(model, el, host);
      }
      const content = createElement(Editor, {
        document: graph,
        host,
        trans: pageTranslator(model)
      });
      return mountTall(model, el, content, takesKey);
    }
  };
}

/** Entry point of anywidget. */
export default liveOrSnapshot(editorWidget);
