// Synchronizes the trait `_graph` of a widget with a graph document, without echoes.

import type { AnyModel } from '@anywidget/types';
import { GraphDocument } from '../editor/model/document';
import { GraphData, sameJson } from '../editor/model/graph-data';

export interface EditorTraits {
  _graph: GraphData;
  height: number;
}

/** Milliseconds without a change before the graph is sent to the kernel. */
const REST = 150;

/** Returns a function that ends the synchronization and sends a pending change. */
export function linkGraph(
  model: AnyModel<EditorTraits>,
  graph: GraphDocument
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing = false;

  const write = () => {
    clearTimeout(timer);
    timer = undefined;
    const now = graph.snapshot();
    // Also equal right after a change that came from the kernel, which is not sent back.
    if (sameJson(now, model.get('_graph'))) {
      return;
    }
    writing = true;
    model.set('_graph', now);
    writing = false;
    model.save_changes();
  };
  const read = () => {
    if (!writing) {
      // A value from the kernel replaces a pending local change.
      clearTimeout(timer);
      timer = undefined;
      graph.load(model.get('_graph'));
    }
  };

  graph.load(model.get('_graph'));
  const unsubscribe = graph.subscribe(() => {
    clearTimeout(timer);
    timer = setTimeout(write, REST);
  });
  model.on('change:_graph', read);
  return () => {
    if (timer !== undefined) {
      write();
    }
    unsubscribe();
    model.off('change:_graph', read);
  };
}
