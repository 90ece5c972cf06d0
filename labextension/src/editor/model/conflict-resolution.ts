// What several people have made of a graph together, mended where each did what the others could not know of.
// labdl/lab/collaboration/conflict_resolution.py mends the same for the file, by the same rules.
import * as Y from 'yjs';

import { GraphData } from './graph-data';
import { uniquePath } from './naming';

export interface Resolution {
  /** New names of nodes; of those with one name, the first keeps it. */
  names: { [id: string]: string };
  /** Edges that lead to nodes which somebody has removed. */
  edges: string[];
  /** Nodes that shared the settings of one which somebody has removed. */
  orphans: string[];
}

/** What must be changed so that the graph can stand in a file; null if it can. Everybody finds the same. */
export function resolveConflicts({
  nodes,
  edges
}: GraphData): Resolution | null {
  const found: Resolution = { names: {}, edges: [], orphans: [] };
  const taken = new Set(Object.values(nodes).map(node => node.name));
  const seen = new Set<string>();
  for (const [id, node] of Object.entries(nodes)) {
    let name = node.name;
    if (seen.has(name)) {
      name = found.names[id] = uniquePath(name, taken);
      taken.add(name);
    }
    seen.add(name);
    if (node.shares && !(node.shares in nodes)) {
      found.orphans.push(id);
    }
  }
  for (const [id, { source, target }] of Object.entries(edges)) {
    if (!(source in nodes && target in nodes)) {
      found.edges.push(id);
    }
  }
  const { names, edges: loose, orphans } = found;
  const isSound = !Object.keys(names).length && !loose.length;
  return isSound && !orphans.length ? null : found;
}

/** Mends the shared maps. It is nobody's step: undo does not take it back. */
export function applyResolution(ydoc: Y.Doc, graph: GraphData): void {
  const mending = resolveConflicts(graph);
  if (!mending) {
    return;
  }
  const nodes = ydoc.getMap<Y.Map<unknown>>('nodes');
  const edges = ydoc.getMap('edges');
  ydoc.transact(() => {
    for (const [id, name] of Object.entries(mending.names)) {
      nodes.get(id)?.set('name', name);
    }
    mending.edges.forEach(id => edges.delete(id));
    mending.orphans.forEach(id => nodes.get(id)?.delete('shares'));
  }, 'mend');
}
