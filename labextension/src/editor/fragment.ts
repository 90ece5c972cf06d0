// A piece of a graph as text, for the clipboard.
import { EdgeData, GraphData, NodeData, Position } from './model';

export interface Fragment {
  nodes: { [id: string]: NodeData };
  /** Edges between the nodes of the fragment only. */
  edges: { [id: string]: EdgeData };
  positions: { [id: string]: Position };
}

const MARK = 'graph-fragment';

/** The nodes with these ids and the edges among them. */
export function fragmentOf(
  graph: GraphData,
  ids: Iterable<string>,
  shown: { [id: string]: Position } = graph.positions
): Fragment {
  const fragment: Fragment = { nodes: {}, edges: {}, positions: {} };
  for (const id of ids) {
    if (graph.nodes[id]) {
      fragment.nodes[id] = graph.nodes[id];
      fragment.positions[id] = shown[id] ?? [0, 0];
    }
  }
  for (const [id, edge] of Object.entries(graph.edges)) {
    if (fragment.nodes[edge.source] && fragment.nodes[edge.target]) {
      fragment.edges[id] = edge;
    }
  }
  return fragment;
}

export function fragmentToText(fragment: Fragment): string {
  return JSON.stringify({ labdl: MARK, version: 1, ...fragment });
}

/** The fragment in a text, or null for any other text. */
export function fragmentFromText(text: string): Fragment | null {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    // The clipboard holds whatever was copied last; most of it is not JSON.
    return null;
  }
  if (!isRecord(data) || data.labdl !== MARK || !isRecord(data.nodes)) {
    return null;
  }
  const nodes = pick(data.nodes, isNode);
  return {
    nodes,
    edges: pick(
      data.edges,
      (edge): edge is EdgeData =>
        isEdge(edge) && edge.source in nodes && edge.target in nodes
    ),
    positions: pick(data.positions, isPosition)
  };
}

function isRecord(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pick<T>(
  table: unknown,
  fits: (value: unknown) => value is T
): { [id: string]: T } {
  const chosen: { [id: string]: T } = {};
  for (const [id, value] of Object.entries(isRecord(table) ? table : {})) {
    if (fits(value)) {
      chosen[id] = value;
    }
  }
  return chosen;
}

function isNode(value: unknown): value is NodeData {
  return (
    isRecord(value) &&
    typeof value.type === 'string' &&
    typeof value.name === 'string' &&
    isRecord(value.params)
  );
}

function isEdge(value: unknown): value is EdgeData {
  return (
    isRecord(value) &&
    ['source', 'source_port', 'target', 'target_port'].every(
      key => typeof value[key] === 'string'
    )
  );
}

function isPosition(value: unknown): value is Position {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    value.every(number => Number.isFinite(number))
  );
}
