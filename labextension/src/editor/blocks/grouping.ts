// Groups layers into blocks; ungroups, renames and repeats blocks.
import type { Change } from '../model/document';
import {
  Fragment,
  fragmentOf,
  pasteFragment,
  takenNames
} from '../model/fragment';
import { EdgeData, GraphData, NodeData, Position } from '../model/graph-data';
import { newId, uniquePath } from '../model/naming';
import { Notes } from '../notes/notes';
import {
  blockId,
  blockPath,
  isBlock,
  commonPath,
  isInside,
  nameIn,
  parentOf,
  pathsOf,
  wordOf
} from '../model/paths';
import { Translator } from '../../ui/translator';

/** Change that renames nodes and blocks, and everything that refers to them by name. */
export function renamePaths(
  graph: GraphData,
  to: (name: string) => string
): Change {
  const nodes: { [id: string]: NodeData } = {};
  const changed = new Map<string, string>();
  for (const [id, node] of Object.entries(graph.nodes)) {
    const name = to(node.name);
    if (name !== node.name) {
      nodes[id] = { ...node, name };
      changed.set(node.name, name);
    }
  }
  const groups: { [path: string]: string | null } = {};
  const moved = Object.entries(graph.groups ?? {}).filter(
    ([path]) => pathTo(path, to) !== path
  );
  moved.forEach(([path]) => (groups[path] = null));
  moved.forEach(([path, kind]) => (groups[pathTo(path, to)] = kind));
  const positions: { [id: string]: Position | null } = {};
  for (const [id, place] of Object.entries(graph.positions)) {
    const fresh = isBlock(id) ? blockId(pathTo(blockPath(id), to)) : id;
    if (fresh !== id) {
      positions[id] = null;
      positions[fresh] = place;
    }
  }
  const parameter = (name: string) => {
    const owner = pathsOf(name)
      .reverse()
      .find(path => changed.has(path));
    return owner === undefined
      ? name
      : `${changed.get(owner)}${name.slice(owner.length)}`;
  };
  const ties: { [name: string]: string | null } = {};
  for (const [name, other] of Object.entries(graph.ties ?? {})) {
    if (parameter(name) !== name) {
      ties[name] = null;
    }
    ties[parameter(name)] = parameter(other);
  }
  const notes: Notes = {};
  for (const [id, note] of Object.entries(graph.notes ?? {})) {
    const home = note.home && pathTo(note.home, to);
    if (home !== note.home) {
      notes[id] = { ...note, home };
    }
  }
  return { nodes, positions, groups, ties, notes };
}

/** New path of a block; `to` maps node names, so a placeholder node inside is mapped. */
function pathTo(path: string, to: (name: string) => string): string {
  const inside = to(`${path}/_`);
  return inside.endsWith('/_') ? inside.slice(0, -2) : path;
}

/** Change that groups nodes into a block, and the block's path; inputs of the model stay outside. */
export function groupNodes(
  graph: GraphData,
  ids: string[],
  word = 'block',
  kind = 'Block'
): { path: string; change: Change } {
  const chosen = new Set(ids.filter(id => graph.nodes[id].type !== 'Input'));
  const names = [...chosen].map(id => graph.nodes[id].name);
  const whole = outermostWhole(graph, chosen);
  // A completely selected block stays one unit.
  const units = names.map(
    name => pathsOf(name).find(path => whole.has(path)) ?? name
  );
  const home = commonPath(units);
  const path = uniquePath(home ? `${home}/${word}` : word, takenNames(graph));
  const moving = new Set(names);
  const taken = new Set<string>();
  const fresh = new Map<string, string>();
  for (const name of names) {
    const inside = nameIn(name, home);
    fresh.set(name, uniquePath(`${path}/${inside}`, taken));
    taken.add(fresh.get(name) as string);
  }
  const to = (name: string) => {
    const own = fresh.get(name);
    if (own !== undefined) {
      return own;
    }
    const block = name.endsWith('/_') && pathsOf(name).find(p => whole.has(p));
    return block && !moving.has(name) ? `${path}/${nameIn(name, home)}` : name;
  };
  const change = renamePaths(graph, to);
  return {
    path,
    change: {
      ...change,
      groups: { ...change.groups, [path]: kind },
      positions: { ...change.positions, [blockId(path)]: null }
    }
  };
}

/** The outermost blocks whose nodes are all selected. */
function outermostWhole(graph: GraphData, chosen: Set<string>): Set<string> {
  const { groups } = fragmentOf(graph, chosen);
  return new Set(
    Object.keys(groups).filter(path => !pathsOf(path).some(p => p in groups))
  );
}

/** The reason why nodes cannot be grouped; null if they can. */
export function groupingRefusal(
  graph: GraphData,
  ids: string[],
  trans: Translator
): string | null {
  const chosen = new Set(ids.filter(id => graph.nodes[id]?.type !== 'Input'));
  if (chosen.size === 0) {
    return trans.__('Select the layers to group.');
  }
  const between = nodeBetween(graph, chosen);
  return between === null
    ? null
    : trans.__(
        'These layers cannot form a block: %1 lies between them, which would create a cycle.',
        graph.nodes[between].name
      );
}

/** A node outside the selection on a path between two selected nodes. */
function nodeBetween(graph: GraphData, chosen: Set<string>): string | null {
  const walk = (from: 'source' | 'target', to: 'source' | 'target') => {
    const next = new Map<string, string[]>();
    for (const edge of Object.values(graph.edges)) {
      next.set(edge[from], [...(next.get(edge[from]) ?? []), edge[to]]);
    }
    const seen = new Set<string>();
    const open = [...chosen];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      for (const other of next.get(id) ?? []) {
        if (!seen.has(other) && !chosen.has(other)) {
          seen.add(other);
          open.push(other);
        }
      }
    }
    return seen;
  };
  const after = walk('source', 'target');
  const before = walk('target', 'source');
  return [...after].find(id => before.has(id)) ?? null;
}

/** Change that ungroups a block; its layers move to the parent block. */
export function ungroupBlock(graph: GraphData, path: string): Change {
  const home = parentOf(path);
  const taken = takenNames(graph);
  const fresh = new Map<string, string>();
  const to = (name: string) => {
    if (!isInside(name, path)) {
      return name;
    }
    const inside = nameIn(name, path);
    const [word] = inside.split('/');
    const unit = `${path}/${word}`;
    let mapped = fresh.get(unit);
    if (mapped === undefined && !name.endsWith('/_')) {
      mapped = uniquePath(
        home ? `${home}/${word}` : topLevelName(word, path),
        taken
      );
      taken.add(mapped);
      fresh.set(unit, mapped);
    }
    return mapped === undefined ? name : mapped + name.slice(unit.length);
  };
  const change = renamePaths(graph, to);
  const notes = { ...change.notes };
  for (const [id, note] of Object.entries(graph.notes ?? {})) {
    if (note.home === path) {
      notes[id] = { ...note, home };
    }
  }
  return { ...change, notes, groups: { ...change.groups, [path]: null } };
}

/** A valid name at the top level, where a plain number is not allowed. */
function topLevelName(word: string, path: string): string {
  return /^\d/.test(word) ? `${wordOf(path)}_${word}` : word;
}

/** Change that replaces the last part of a block's path. */
export function renameBlock(
  graph: GraphData,
  path: string,
  word: string
): Change {
  const home = parentOf(path);
  const fresh = home ? `${home}/${word}` : word;
  return renamePaths(graph, name =>
    isInside(name, path) ? fresh + name.slice(path.length) : name
  );
}

/** Inputs of a block with the ports that each one feeds, outputs, and all nodes with an outgoing edge. */
export function endsOfBlock(graph: GraphData, path: string) {
  const inside = (id: string) => isInside(graph.nodes[id]?.name ?? '', path);
  const takes = new Map<string, [string, string][]>();
  const gives = new Map<string, [string, string]>();
  const used = new Set<string>();
  for (const edge of Object.values(graph.edges)) {
    used.add(edge.source);
    if (inside(edge.target) && !inside(edge.source)) {
      const key = `${edge.source} ${edge.source_port}`;
      const ends = takes.get(key) ?? [];
      takes.set(key, [...ends, [edge.target, edge.target_port]]);
    } else if (inside(edge.source) && !inside(edge.target)) {
      const key = `${edge.source} ${edge.source_port}`;
      gives.set(key, [edge.source, edge.source_port]);
    }
  }
  return { takes: [...takes.values()], gives: [...gives.values()], used };
}

/** The reason why a block cannot be repeated; null if it can. */
export function repeatingRefusal(
  graph: GraphData,
  path: string,
  trans: Translator
): string | null {
  const { takes, gives } = endsOfBlock(graph, path);
  return takes.length === 1 && gives.length <= 1
    ? null
    : trans.__(
        'A repeated block needs exactly one input and one output; this block has %1 and %2.',
        takes.length,
        gives.length
      );
}

/** Change that repeats a block `times` in sequence; `step` is the distance between two copies. */
export function repeatBlock(
  graph: GraphData,
  path: string,
  times: number,
  step: Position,
  outputOf: (id: string) => string
): Change {
  const home = parentOf(path);
  const isNumbered = /^\d+$/.test(wordOf(path)) && home !== '';
  const row = isNumbered ? home : path;
  const first = isNumbered ? path : `${path}/0`;
  const start: Change = isNumbered
    ? {}
    : renamePaths(graph, name =>
        isInside(name, path) ? `${first}/${nameIn(name, path)}` : name
      );
  const base = isNumbered ? graph : applyChange(graph, start);
  const members = Object.keys(base.nodes).filter(id =>
    isInside(base.nodes[id].name, first)
  );
  const { takes, gives, used } = endsOfBlock(base, first);
  const entries = takes[0] ?? [];
  const last = [...members].reverse().find(id => !used.has(id)) ?? members[0];
  const exit = gives[0] ?? [last, outputOf(last)];
  const all = fragmentOf(base, members);
  const own = Object.entries(all.groups).filter(
    ([other]) => other === first || isInside(other, first)
  );
  const piece: Fragment = { ...all, groups: Object.fromEntries(own) };

  let current = base;
  let change: Change = isNumbered
    ? {}
    : {
        ...start,
        groups: {
          ...start.groups,
          [row]: 'Sequential',
          [first]: base.groups?.[path] ?? graph.groups?.[path] ?? 'Block'
        }
      };
  let [end, port] = exit;
  for (let n = 1; n < times; n++) {
    const offset: Position = [step[0] * n, step[1] * n];
    const copy = pasteFragment(piece, current, '', offset);
    const at = (id: string) => copy.ids.get(id) as string;
    const links: { [id: string]: EdgeData } = {};
    for (const [target, target_port] of entries) {
      const id = newId('e', { has: id => id in current.edges || id in links });
      links[id] = {
        source: end,
        source_port: port,
        target: at(target),
        target_port
      };
    }
    [end, port] = [at(exit[0]), exit[1]];
    const added: Change = {
      ...copy.change,
      edges: { ...copy.change.edges, ...links }
    };
    change = mergeChanges(change, added);
    current = applyChange(current, added);
  }
  const outgoing: Change['edges'] = {};
  for (const [id, edge] of Object.entries(base.edges)) {
    const leaves =
      edge.source === exit[0] &&
      edge.source_port === exit[1] &&
      !members.includes(edge.target);
    if (leaves) {
      outgoing[id] = { ...edge, source: end, source_port: port };
    }
  }
  return mergeChanges(change, { edges: outgoing });
}

/** Applies one change after another, as one change. */
export function mergeChanges(a: Change, b: Change): Change {
  return {
    nodes: { ...a.nodes, ...b.nodes },
    edges: { ...a.edges, ...b.edges },
    positions: { ...a.positions, ...b.positions },
    groups: { ...a.groups, ...b.groups },
    ties: { ...a.ties, ...b.ties },
    notes: { ...a.notes, ...b.notes }
  };
}

/** The graph after a change. */
export function applyChange(graph: GraphData, change: Change): GraphData {
  const table = <T>(
    old: { [id: string]: T },
    next: { [id: string]: T | null } = {}
  ) =>
    Object.fromEntries(
      Object.entries({ ...old, ...next }).filter(([, value]) => value !== null)
    ) as { [id: string]: T };
  return {
    ...graph,
    nodes: table(graph.nodes, change.nodes),
    edges: table(graph.edges, change.edges),
    positions: table(graph.positions, change.positions),
    groups: table(graph.groups ?? {}, change.groups),
    ties: table(graph.ties ?? {}, change.ties),
    notes: table(graph.notes ?? {}, change.notes)
  };
}
