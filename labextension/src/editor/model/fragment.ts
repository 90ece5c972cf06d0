// Part of a graph as text, for the clipboard.
import type { Change } from './document';
import { EdgeData, GraphData, NodeData, Position } from './graph-data';
import { isNote, Notes } from '../notes/notes';
import { newId, uniquePath } from './naming';
import {
  blockId,
  blockPath,
  isBlock,
  commonPath,
  isInside,
  nameIn,
  pathsOf
} from './paths';

export interface Fragment {
  nodes: { [id: string]: NodeData };
  /** Only edges between nodes of the fragment. */
  edges: { [id: string]: EdgeData };
  /** Positions of nodes, and of folded blocks by path and "/". */
  positions: { [id: string]: Position };
  /** Classes of the blocks that are completely in the fragment. */
  groups: { [path: string]: string };
  /** Selected notes, and the notes in complete blocks. */
  notes?: Notes;
}

const MARK = 'graph-fragment';

/** The nodes and notes with these ids and the edges between them. */
export function fragmentOf(
  graph: GraphData,
  ids: Iterable<string>,
  shown: { [id: string]: Position } = graph.positions
): Fragment {
  const fragment: Fragment = {
    nodes: {},
    edges: {},
    positions: {},
    groups: {}
  };
  const chosen = new Set(ids);
  for (const id of chosen) {
    if (graph.nodes[id]) {
      fragment.nodes[id] = graph.nodes[id];
    }
  }
  for (const [id, edge] of Object.entries(graph.edges)) {
    if (fragment.nodes[edge.source] && fragment.nodes[edge.target]) {
      fragment.edges[id] = edge;
    }
  }
  for (const path of wholeBlocks(graph, fragment)) {
    fragment.groups[path] = graph.groups?.[path] ?? '';
  }
  for (const [id, place] of Object.entries(shown)) {
    if (id in fragment.nodes || blockPath(id) in fragment.groups) {
      fragment.positions[id] = place;
    }
  }
  const notes = Object.entries(graph.notes ?? {}).filter(
    ([id, { home }]) => chosen.has(id) || home in fragment.groups
  );
  return notes.length
    ? { ...fragment, notes: Object.fromEntries(notes) }
    : fragment;
}

/** The blocks whose nodes are all in a fragment. */
function wholeBlocks(graph: GraphData, { nodes }: Fragment): string[] {
  const whole = new Map<string, boolean>();
  for (const [id, { name }] of Object.entries(graph.nodes)) {
    for (const path of pathsOf(name)) {
      whole.set(path, whole.get(path) !== false && id in nodes);
    }
  }
  return [...whole].filter(([, isWhole]) => isWhole).map(([path]) => path);
}

/** Change that adds a fragment to a block, moved by `offset`; the new ids, and the path of the fragment's first block. */
export function pasteFragment(
  fragment: Fragment,
  graph: GraphData,
  within: string,
  offset: Position
): { change: Change; ids: Map<string, string>; root: string | undefined } {
  const taken = takenNames(graph);
  const names = Object.values(fragment.nodes).map(node => node.name);
  const home = commonPath([...names, ...Object.keys(fragment.groups)]);
  const stays = isInside(`${home}/`, within) && (!home || taken.has(home));
  const rebase = (name: string) => {
    const inside = nameIn(name, home);
    return stays ? name : within ? `${within}/${inside}` : inside;
  };

  // A block is renamed as a whole; layers outside of blocks are renamed one by one.
  const renamed = new Map<string, string>();
  const rename = (name: string): string => {
    const outer = pathsOf(name).find(path => path in fragment.groups);
    const unit = outer ?? name;
    let fresh = renamed.get(unit);
    if (fresh === undefined) {
      fresh = uniquePath(rebase(unit), taken);
      taken.add(fresh);
      renamed.set(unit, fresh);
    }
    return fresh + name.slice(unit.length);
  };

  const ids = new Map<string, string>();
  const nodes: { [id: string]: NodeData } = {};
  for (const [old, node] of Object.entries(fragment.nodes)) {
    const id = newId('n', { has: id => id in graph.nodes || id in nodes });
    ids.set(old, id);
    nodes[id] = { ...node, name: rename(node.name) };
  }
  for (const node of Object.values(nodes)) {
    const origin = node.shares && (ids.get(node.shares) ?? node.shares);
    node.shares =
      origin && (origin in nodes || origin in graph.nodes) ? origin : '';
  }
  const edges: { [id: string]: EdgeData } = {};
  for (const edge of Object.values(fragment.edges)) {
    const source = ids.get(edge.source);
    const target = ids.get(edge.target);
    if (source && target) {
      const id = newId('e', { has: id => id in graph.edges || id in edges });
      edges[id] = { ...edge, source, target };
    }
  }
  const groups: { [path: string]: string } = {};
  for (const [path, kind] of Object.entries(fragment.groups)) {
    groups[blockPath(rename(blockId(path)))] = kind;
  }
  const positions: { [id: string]: Position } = {};
  for (const [old, [x, y]] of Object.entries(fragment.positions)) {
    const id = isBlock(old) ? rename(old) : ids.get(old);
    if (id !== undefined) {
      positions[id] = [x + offset[0], y + offset[1]];
    }
  }
  const notes: Notes = {};
  for (const [old, note] of Object.entries(fragment.notes ?? {})) {
    const id = newId('c', {
      has: id => id in (graph.notes ?? {}) || id in notes || id in graph.nodes
    });
    ids.set(old, id);
    notes[id] = {
      ...note,
      // Notes of a copied block stay in it; all others belong to the block they are pasted into.
      home:
        note.home in fragment.groups
          ? blockPath(rename(blockId(note.home)))
          : within,
      x: note.x + offset[0],
      y: note.y + offset[1]
    };
  }
  const [first] = Object.keys(fragment.groups);
  const root = first === undefined ? first : blockPath(rename(blockId(first)));
  return { change: { nodes, edges, positions, groups, notes }, ids, root };
}

/** The names of all nodes and blocks. */
export function takenNames(graph: GraphData): Set<string> {
  const taken = new Set<string>();
  for (const { name } of Object.values(graph.nodes)) {
    taken.add(name);
    pathsOf(name).forEach(path => taken.add(path));
  }
  return taken;
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
    // The clipboard may contain any text.
    return null;
  }
  if (!isRecord(data) || data.labdl !== MARK || !isRecord(data.nodes)) {
    return null;
  }
  const nodes = pick(data.nodes, isNode);
  const notes = pick(data.notes, isNote);
  return {
    ...(Object.keys(notes).length ? { notes } : {}),
    nodes,
    edges: pick(
      data.edges,
      (edge): edge is EdgeData =>
        isEdge(edge) && edge.source in nodes && edge.target in nodes
    ),
    positions: pick(data.positions, isPosition),
    groups: pick(
      data.groups,
      (word): word is string => typeof word === 'string'
    )
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
