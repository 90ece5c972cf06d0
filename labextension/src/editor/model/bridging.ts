// Edges that close the gap where layers of a chain are removed.
import { EdgeData, GraphData } from './graph-data';

export interface Bridges {
  /** Ids of edges from removed nodes, whose places the new edges take. */
  replaced: string[];
  edges: EdgeData[];
}

/** Edges around removed nodes with a single input each; edges in `cut` are not bridged. */
export function bridgesOf(
  graph: GraphData,
  gone: ReadonlySet<string>,
  cut: ReadonlySet<string>
): Bridges {
  const before = new Map<string, string[]>();
  for (const [id, { target }] of Object.entries(graph.edges)) {
    if (gone.has(target)) {
      before.set(target, [...(before.get(target) ?? []), id]);
    }
  }
  const bridges: Bridges = { replaced: [], edges: [] };
  for (const [id, edge] of Object.entries(graph.edges)) {
    if (!gone.has(edge.source) || gone.has(edge.target) || cut.has(id)) {
      continue;
    }
    const start = startOf(graph, edge, gone, cut, before);
    if (start) {
      const { source, source_port } = start;
      const { target, target_port } = edge;
      bridges.replaced.push(id);
      bridges.edges.push({ source, source_port, target, target_port });
    }
  }
  return bridges;
}

/** The edge through which a chain of removed nodes begins; undefined where there is none, or several. */
function startOf(
  graph: GraphData,
  end: EdgeData,
  gone: ReadonlySet<string>,
  cut: ReadonlySet<string>,
  before: ReadonlyMap<string, string[]>
): EdgeData | undefined {
  const chain = new Set<string>();
  let edge = end;
  while (gone.has(edge.source)) {
    const [id, ...others] = before.get(edge.source) ?? [];
    if (!id || others.length || cut.has(id) || chain.has(id)) {
      return undefined;
    }
    chain.add(id);
    edge = graph.edges[id];
  }
  return edge;
}
