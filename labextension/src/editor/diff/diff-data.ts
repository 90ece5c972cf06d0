// Difference of two models as computed in Python, and the union of both graphs for a common layout.
import type { Difference } from '../../api/editor';
import { EditorHost } from '../host';
import { EdgeData, GraphData, NodeData } from '../model/graph-data';
import { isInside, pathsOf } from '../model/paths';

export type { Difference, Pair } from '../../api/editor';

export interface DiffHost extends EditorHost {
  difference(old: GraphData, next: GraphData): Promise<Difference>;
}

export const SIDES_OF_DIFF = ['old', 'new'] as const;
export type DiffSideName = (typeof SIDES_OF_DIFF)[number];

/** Kind of change of a node or edge. */
export type MarkKind = 'added' | 'removed' | 'changed' | 'renamed';

/** Union of both graphs: the new one plus the nodes and edges that only the old one has. */
export interface Union {
  graph: GraphData;
  /** Id in the union for a node of the old graph; ids of the new graph stay the same. */
  idOf(old: string): string;
  marks: ReadonlyMap<string, MarkKind>;
  /** Blocks in which a connection was added or removed. */
  rewired: ReadonlySet<string>;
}

export function unionOf(
  old: GraphData,
  next: GraphData,
  difference: Difference
): Union {
  const { same } = difference;
  let prefix = 'old:';
  while (Object.keys(next.nodes).some(id => id.startsWith(prefix))) {
    prefix = `${prefix}:`;
  }
  const idOf = (id: string) => same[id] ?? prefix + id;

  const nodes: { [id: string]: NodeData } = { ...next.nodes };
  for (const id of difference.removed) {
    nodes[idOf(id)] = old.nodes[id];
  }
  const edges: { [id: string]: EdgeData } = { ...next.edges };
  const rewired = new Set<string>();
  for (const id of difference.removed_edges) {
    const edge = old.edges[id];
    const [source, target] = [idOf(edge.source), idOf(edge.target)];
    edges[prefix + id] = { ...edge, source, target };
    blocksAround(nodes, source, target).forEach(path => rewired.add(path));
  }
  for (const id of difference.added_edges) {
    const { source, target } = next.edges[id];
    blocksAround(nodes, source, target).forEach(path => rewired.add(path));
  }

  const marks = new Map<string, MarkKind>();
  difference.renamed.forEach(([, id]) => marks.set(id, 'renamed'));
  difference.changed.forEach(change => marks.set(change.new, 'changed'));
  difference.added.forEach(id => marks.set(id, 'added'));
  difference.removed.forEach(id => marks.set(idOf(id), 'removed'));
  const groups = { ...old.groups, ...next.groups };
  const graph = { ...next, nodes, edges, groups, positions: {}, notes: {} };
  return { graph, idOf, marks, rewired };
}

/** The blocks that contain both nodes. */
function blocksAround(
  nodes: { [id: string]: NodeData },
  source: string,
  target: string
): string[] {
  const there = nodes[target].name;
  return pathsOf(nodes[source].name).filter(path => isInside(there, path));
}
