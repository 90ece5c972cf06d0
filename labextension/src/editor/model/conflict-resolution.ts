// Resolves conflicts between concurrent edits of a graph, such as duplicate names and dangling edges.
// labdl/lab/collaboration/conflict_resolution.py applies the same rules to the file.
import * as Y from 'yjs';

import { GraphData } from './graph-data';
import { isPath, uniquePath, validPath } from './naming';

export interface Resolution {
  /** New names of nodes; the first of several nodes with one name keeps it. */
  names: { [id: string]: string };
  /** Ids of edges from or to removed nodes. */
  edges: string[];
  /** Ids of nodes that shared the settings of a removed node. */
  orphans: string[];
}

/** Changes that make the graph valid; null if it is. The result is the same for every user. */
export function resolveConflicts({
  nodes,
  edges
}: GraphData): Resolution | null {
  const found: Resolution = { names: {}, edges: [], orphans: [] };
  const taken = new Set(Object.values(nodes).map(node => node.name));
  const seen = new Set<string>();
  for (const [id, node] of Object.entries(nodes)) {
    let name = node.name;
    if (seen.has(name) || !isPath(name)) {
      name = found.names[id] = uniquePath(validPath(name), taken);
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

/** Resolves the conflicts in the shared maps, outside of the undo history. */
export function applyResolution(ydoc: Y.Doc, graph: GraphData): void {
  const resolution = resolveConflicts(graph);
  if (!resolution) {
    return;
  }
  const nodes = ydoc.getMap<Y.Map<unknown>>('nodes');
  const edges = ydoc.getMap('edges');
  ydoc.transact(() => {
    for (const [id, name] of Object.entries(resolution.names)) {
      nodes.get(id)?.set('name', name);
    }
    resolution.edges.forEach(id => edges.delete(id));
    resolution.orphans.forEach(id => nodes.get(id)?.delete('shares'));
  }, 'conflict resolution');
}
