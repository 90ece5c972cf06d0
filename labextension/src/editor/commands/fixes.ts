// Labels of fixes, and their application.
import { GraphDocument } from '../model/document';
import { Fix, GraphData, Json } from '../model/graph-data';
import { Translator } from '../../ui/translator';

/** Label of the button; null if the fix no longer applies to the graph. */
export function fixLabel(
  fix: Fix,
  graph: GraphData,
  trans: Translator
): string | null {
  if ('edge' in fix ? !graph.edges[fix.edge] : !graph.nodes[fix.node]) {
    return null;
  }
  switch (fix.kind) {
    case 'insert':
    case 'add':
      return trans.__('Insert %1', constructorCall(fix.type, fix.params));
    case 'connect': {
      const source = graph.nodes[fix.source];
      return source ? trans.__('Connect to %1', source.name) : null;
    }
    case 'disconnect':
      return trans.__('Remove the connection');
    case 'set':
      return fix.value === null
        ? trans.__('Reset %1 to its default', fix.name)
        : trans.__(
            'Set %1 of %2 to %3',
            fix.name,
            graph.nodes[fix.node].name,
            JSON.stringify(fix.value)
          );
    case 'rename':
      return trans.__('Rename to %1', fix.name);
  }
}

/** A layer as a constructor call: Conv2d(16, 1). */
function constructorCall(
  type: string,
  params: { [key: string]: Json }
): string {
  const values = Object.values(params).map(value => JSON.stringify(value));
  return values.length ? `${type}(${values.join(', ')})` : type;
}

/** Applies a fix that adds no layer, as one undo step. */
export function applyFix(
  fix: Exclude<Fix, { kind: 'insert' | 'add' }>,
  document: GraphDocument
): void {
  switch (fix.kind) {
    case 'connect':
      document.addEdges([
        {
          source: fix.source,
          source_port: fix.source_port,
          target: fix.node,
          target_port: fix.port
        }
      ]);
      break;
    case 'disconnect':
      document.remove([], [fix.edge]);
      break;
    case 'set':
      document.setParam(fix.node, fix.name, fix.value ?? undefined);
      break;
    case 'rename':
      document.rename(fix.node, fix.name);
      break;
  }
}
