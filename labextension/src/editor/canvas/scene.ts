// Drawn part of a graph: folded blocks as single nodes, and for an entered block its inside with the connected nodes.
import { Ports } from '../model/connect';
import {
  EdgeData,
  GraphData,
  InputPort,
  LayerSchema,
  LayerTable,
  NodeData,
  OutputPort,
  Position,
  sameJson
} from '../model/graph-data';
import {
  blockId,
  blockPath,
  foldedPaths,
  isBlock,
  isInside,
  nameIn,
  pathsOf
} from '../model/paths';

/** A folded block with its ports. */
export interface Block {
  path: string;
  members: string[];
  ports: Ports;
}

export interface Scene {
  /** Path of the entered block; empty for the whole model. */
  within: string;
  /** Drawn nodes and edges. Id and type of a folded block are its path and "/"; an edge has the id of one it represents. */
  graph: GraphData;
  /** Schemas of the layers and of the folded blocks. */
  layers: LayerTable;
  blocks: ReadonlyMap<string, Block>;
  /** Paths of the open blocks with drawn nodes, outer ones first. */
  frames: string[];
  /** Connected nodes outside the entered block. */
  outside: ReadonlySet<string>;
  /** Id under which a node is drawn; undefined if it is not drawn. */
  drawnAs(id: string): string | undefined;
  /** Edges of the graph that a drawn edge represents. */
  edgesOf(id: string): string[];
  /** What the scene was made of, besides the positions. */
  origin: Origin;
}

interface Origin {
  whole: GraphData;
  layers: LayerTable;
  folded: ReadonlySet<string>;
}

const SEPARATOR = '|';

export function sceneOf(
  graph: GraphData,
  layers: LayerTable,
  within: string,
  old?: Scene
): Scene {
  const folded = foldedPaths(graph, within);
  const origin = { whole: graph, layers, folded };
  if (old?.within === within && isMoved(old.origin, origin)) {
    return withPositions(old, origin);
  }
  const drawn = new Map<string, string>();
  const members = new Map<string, string[]>();
  const frames = new Set<string>();
  for (const [id, { name }] of Object.entries(graph.nodes)) {
    if (within && !isInside(name, within)) {
      continue;
    }
    const paths = pathsOf(name).filter(path => isInside(path, within));
    const hiding = paths.find(path => folded.has(path));
    for (const path of paths) {
      if (path === hiding) {
        break;
      }
      frames.add(path);
    }
    const as = hiding === undefined ? id : blockId(hiding);
    drawn.set(id, as);
    if (hiding !== undefined) {
      members.set(as, [...(members.get(as) ?? []), id]);
    }
  }

  const ports = new BlockPorts(graph);
  const outside = new Set<string>();
  const bundles = new Map<string, string[]>();
  const edges: { [id: string]: EdgeData } = {};
  const known = new Map<string, string>();
  const endOf = (id: string) => {
    const as = drawn.get(id);
    if (as === undefined) {
      outside.add(id);
    }
    return as ?? id;
  };
  for (const [id, edge] of Object.entries(graph.edges)) {
    if (!graph.nodes[edge.source] || !graph.nodes[edge.target]) {
      continue; // the check reports such an edge; without both ends it cannot be drawn
    }
    if (!drawn.has(edge.source) && !drawn.has(edge.target)) {
      continue;
    }
    const source = endOf(edge.source);
    const target = endOf(edge.target);
    if (source === target && members.has(source)) {
      continue;
    }
    const shown = {
      source,
      source_port: members.has(source)
        ? ports.output(source, edge)
        : edge.source_port,
      target,
      target_port: members.has(target)
        ? ports.input(target, edge)
        : edge.target_port
    };
    const key = `${shown.source} ${shown.source_port} ${shown.target} ${shown.target_port}`;
    const first = known.get(key);
    if (first === undefined) {
      known.set(key, id);
      edges[id] = sameJson(old?.graph.edges[id], shown)
        ? (old as Scene).graph.edges[id]
        : shown;
      bundles.set(id, [id]);
    } else {
      bundles.get(first)?.push(id);
    }
  }

  const blocks = new Map<string, Block>();
  const table = members.size ? new Map(layers) : layers;
  for (const [as, ids] of members) {
    ports.addUnconnected(as, ids, layers);
    const label = graph.groups?.[blockPath(as)] ?? '';
    (table as Map<string, LayerSchema>).set(
      as,
      boxSchema(as, label, ports.get(as))
    );
    const block = { path: blockPath(as), members: ids, ports: ports.get(as) };
    const before = old?.blocks.get(as);
    blocks.set(as, before && sameJson(before, block) ? before : block);
  }
  const nodes: { [id: string]: NodeData } = {};
  const positions: { [id: string]: Position } = {};
  for (const id of Object.keys(graph.nodes)) {
    const as = drawn.get(id) ?? (outside.has(id) ? id : undefined);
    if (as === undefined || as in nodes) {
      continue;
    }
    nodes[as] = blocks.has(as)
      ? boxOf(as, old?.graph.nodes[as])
      : graph.nodes[id];
    if (graph.positions[as] && !outside.has(as)) {
      positions[as] = graph.positions[as];
    }
  }
  return {
    within,
    graph: {
      ...graph,
      nodes,
      edges: sameOr(old?.graph.edges, edges),
      positions: sameOr(old?.graph.positions, positions)
    },
    layers: table,
    blocks,
    frames: [...frames].sort(
      (a, b) => pathsOf(a).length - pathsOf(b).length || (a < b ? -1 : 1)
    ),
    outside,
    drawnAs: id => drawn.get(id),
    edgesOf: id => bundles.get(id) ?? [],
    origin
  };
}

/** Whether two graphs are equal except for positions and notes, and have the same blocks folded. */
function isMoved(old: Origin, next: Origin): boolean {
  const parts = ['nodes', 'edges', 'groups'] as const;
  return (
    parts.every(part => old.whole[part] === next.whole[part]) &&
    old.layers === next.layers &&
    old.folded.size === next.folded.size &&
    [...next.folded].every(path => old.folded.has(path))
  );
}

/** The same scene with the positions of its origin. */
function withPositions(scene: Scene, origin: Origin): Scene {
  const { nodes, edges, positions: before } = scene.graph;
  const positions: { [id: string]: Position } = {};
  for (const id of Object.keys(nodes)) {
    const at = origin.whole.positions[id];
    if (at && !scene.outside.has(id)) {
      positions[id] = at;
    }
  }
  const graph = {
    ...origin.whole,
    nodes,
    edges,
    positions: sameOr(before, positions)
  };
  return { ...scene, graph, origin };
}

/** Ids of the drawn nodes inside an open block. */
export function drawnInside(scene: Scene, path: string): string[] {
  return Object.keys(scene.graph.nodes).filter(
    id =>
      !scene.outside.has(id) &&
      isInside(scene.blocks.get(id)?.path ?? scene.graph.nodes[id].name, path)
  );
}

/** Ids of the drawn nodes inside each open block. */
export function drawnInFrames(scene: Scene): Map<string, string[]> {
  const held = new Map<string, string[]>(scene.frames.map(path => [path, []]));
  for (const [id, { name }] of Object.entries(scene.graph.nodes)) {
    if (!scene.outside.has(id)) {
      pathsOf(name).forEach(path => held.get(path)?.push(id));
    }
  }
  return held;
}

/** Path of the completely selected block, folded or open; null if there is none. */
export function selectedBlockOf(
  scene: Scene,
  selected: ReadonlySet<string>
): string | null {
  const chosen = [...selected].filter(id => scene.graph.nodes[id]);
  const [first] = chosen;
  if (chosen.length === 1 && scene.blocks.has(first)) {
    return blockPath(first);
  }
  if (first === undefined || scene.frames.length === 0) {
    return null;
  }
  const held = drawnInFrames(scene);
  const whole = pathsOf(scene.graph.nodes[first].name).find(path => {
    const inside = held.get(path) ?? [];
    return (
      inside.length === chosen.length && inside.every(id => selected.has(id))
    );
  });
  return whole ?? null;
}

/** Ids of the graph's nodes behind drawn ids; a folded block stands for all of its nodes. */
export function nodesOf(scene: Scene, ids: Iterable<string>): string[] {
  return [...ids].flatMap(id =>
    scene.outside.has(id) ? [] : (scene.blocks.get(id)?.members ?? [id])
  );
}

/** Edges of the graph that a drawn edge between these ends represents. */
export function edgesBehind(edge: EdgeData, graph: GraphData): EdgeData[] {
  const [source, source_port] = endIn(edge.source, edge.source_port);
  const [target, target_port] = endIn(edge.target, edge.target_port);
  const one = { source, source_port, target, target_port };
  if (target === edge.target) {
    return [one];
  }
  // An input of a folded block stands for all ports that receive the same value.
  const all = Object.values(graph.edges);
  const fed = all.find(
    other => other.target === target && other.target_port === target_port
  );
  const path = blockPath(edge.target);
  const alike = all.filter(
    other =>
      fed &&
      other.source === fed.source &&
      other.source_port === fed.source_port &&
      isInside(graph.nodes[other.target]?.name ?? '', path)
  );
  return alike.length
    ? alike.map(other => ({
        ...one,
        target: other.target,
        target_port: other.target_port
      }))
    : [one];
}

/** Node and port of the graph behind a port of a drawn node. */
export function endIn(id: string, port: string): [string, string] {
  const at = isBlock(id) ? port.lastIndexOf(SEPARATOR) : -1;
  return at < 0 ? [id, port] : [port.slice(0, at), port.slice(at + 1)];
}

function boxOf(as: string, old: NodeData | undefined): NodeData {
  return old ?? { type: as, name: blockPath(as), params: {} };
}

function boxSchema(type: string, label: string, ports: Ports): LayerSchema {
  const about = { category: '', summary: '', palette: false, schema: {} };
  return { type, label, ...about, ...ports };
}

/** The old table if it is equal. */
function sameOr<T>(
  old: { [id: string]: T } | undefined,
  next: { [id: string]: T }
): { [id: string]: T } {
  return old && sameTable(old, next) ? old : next;
}

function sameTable<T>(a: { [id: string]: T }, b: { [id: string]: T }): boolean {
  const keys = Object.keys(b);
  return (
    keys.length === Object.keys(a).length &&
    keys.every(key => a[key] === b[key])
  );
}

/** Ports of folded blocks, collected from the edges. */
class BlockPorts {
  constructor(private readonly _graph: GraphData) {}

  output(box: string, { source, source_port }: EdgeData): string {
    const name = `${source}${SEPARATOR}${source_port}`;
    const { outputs } = this.get(box);
    if (!outputs.some(port => port.name === name)) {
      outputs.push({ name, label: this._label(box, source, source_port) });
    }
    return name;
  }

  /** Ports that receive the same value share one input. */
  input(box: string, edge: EdgeData): string {
    const key = `${box} ${edge.source} ${edge.source_port}`;
    const known = this._inputBySource.get(key);
    if (known !== undefined) {
      return known;
    }
    const name = this._addInput(box, edge.target, edge.target_port, false);
    this._inputBySource.set(key, name);
    return name;
  }

  /** Adds the required inputs without an edge and the unused outputs of the nodes inside. */
  addUnconnected(box: string, members: string[], layers: LayerTable): void {
    this._usedPorts ??= endsOf(this._graph);
    for (const id of members) {
      const { type, params } = this._graph.nodes[id];
      const schema = layers.get(type);
      for (const port of schema?.inputs ?? []) {
        const isFed =
          this._usedPorts.has(`in ${id} ${port.name}`) || port.name in params;
        if (!port.optional && !isFed) {
          this._addInput(box, id, port.name, port.variadic);
        }
      }
      // Layers without a schema only have the ports that edges use.
      const [first] = schema?.outputs ?? [];
      if (first && !this._usedPorts.has(`out ${id}`)) {
        this.output(box, {
          source: id,
          source_port: first.name,
          target: '',
          target_port: ''
        });
      }
    }
  }

  get(box: string): { inputs: InputPort[]; outputs: OutputPort[] } {
    const known = this._ports.get(box);
    if (known) {
      return known;
    }
    const none = { inputs: [], outputs: [] };
    this._ports.set(box, none);
    return none;
  }

  private _addInput(
    box: string,
    id: string,
    port: string,
    variadic: boolean
  ): string {
    const name = `${id}${SEPARATOR}${port}`;
    const { inputs } = this.get(box);
    if (!inputs.some(other => other.name === name)) {
      const label = this._label(box, id, port);
      inputs.push({ name, label, variadic, optional: false });
    }
    return name;
  }

  private _label(box: string, id: string, port: string): string {
    return `${nameIn(this._graph.nodes[id].name, blockPath(box))}.${port}`;
  }

  private readonly _ports = new Map<
    string,
    { inputs: InputPort[]; outputs: OutputPort[] }
  >();
  private readonly _inputBySource = new Map<string, string>();
  private _usedPorts: Set<string> | undefined;
}

function endsOf(graph: GraphData): Set<string> {
  const ends = new Set<string>();
  for (const edge of Object.values(graph.edges)) {
    ends.add(`in ${edge.target} ${edge.target_port}`);
    ends.add(`out ${edge.source}`);
  }
  return ends;
}
