// Graph as nodes and edges of React Flow; unchanged ones keep their identity.
import { Edge, Node } from '@xyflow/react';

import { Ports, portsOf } from '../model/connect';
import { estimatedHandles, SIDES } from './handles';
import { Direction, NODE_SIZE } from './node-size';
import {
  GraphData,
  LayerSchema,
  LayerTable,
  NodeData,
  Position,
  sameJson
} from '../model/graph-data';
import { wordOf } from '../model/paths';
import { Block, Scene } from './scene';
import { Selected } from '../model/selection';

export interface LayerNodeData extends Record<string, unknown> {
  node: NodeData;
  schema: LayerSchema | undefined;
  ports: Ports;
  /** Name of the layer whose settings and weights this node shares. */
  sharedWith: string | undefined;
  /** Name relative to the block that contains the node. */
  title: string;
  /** The block of a folded node; undefined for a layer. */
  block: Block | undefined;
}

export type LayerFlowNode = Node<LayerNodeData, 'layer' | 'block'>;
export type LayerFlowEdge = Edge<Record<string, unknown>, 'data'>;

const OUTSIDE = 'labdl-mod-outside';

/** Above this number of nodes, only those in view are rendered. */
const LARGE = 150;

export function isLarge(graph: GraphData): boolean {
  return Object.keys(graph.nodes).length > LARGE;
}

export interface View {
  /** The whole model. */
  whole: GraphData;
  scene: Scene;
  /** The drawn part of the model. */
  graph: GraphData;
  places: { [id: string]: Position };
  layers: LayerTable;
  selected: Selected;
  direction: Direction;
}

export function flowNodes(
  view: View,
  old: ReadonlyMap<string, LayerFlowNode>
): LayerFlowNode[] {
  const { graph, scene, whole, places, layers, selected, direction } = view;
  const sides = SIDES[direction];
  const large = isLarge(graph);
  const parameters = parameterPorts(graph);
  return Object.entries(graph.nodes).map(([id, node]) => {
    const before = old.get(id);
    const [x, y] = places[id] ?? [0, 0];
    const schema = layers.get(node.type);
    const isSelected = selected.nodes.has(id);
    const block = scene.blocks.get(id);
    const isOutside = scene.outside.has(id);
    const title = isOutside ? node.name : wordOf(node.name);
    const ports =
      block?.ports ??
      withParameters(schema ?? portsOf(id, schema, graph), parameters.get(id));
    const sharedWith = node.shares && whole.nodes[node.shares]?.name;
    const sameData =
      before?.data.node === node &&
      before.data.block === block &&
      before.data.title === title &&
      before.data.sharedWith === sharedWith &&
      before.data.schema === schema &&
      sameJson(before.data.ports, ports);
    // Changes by other users must not move a node that is being dragged.
    const samePlace =
      before &&
      (before.dragging || (before.position.x === x && before.position.y === y));
    if (
      before &&
      sameData &&
      samePlace &&
      Boolean(before.selected) === isSelected &&
      before.className === (isOutside ? OUTSIDE : undefined) &&
      before.sourcePosition === sides.out
    ) {
      return before;
    }
    const sameSides = sameData && before.sourcePosition === sides.out;
    const drawn: LayerFlowNode = {
      ...(before ?? {
        initialWidth: NODE_SIZE.width,
        initialHeight: NODE_SIZE.height
      }),
      id,
      type: block ? 'block' : 'layer',
      className: isOutside ? OUTSIDE : undefined,
      // undefined: the setting of the canvas applies
      draggable: isOutside ? false : undefined,
      position: before && samePlace ? before.position : { x, y },
      data:
        before && sameData
          ? before.data
          : { node, schema, ports, sharedWith, title, block },
      selected: isSelected,
      ariaLabel: `${node.name}, ${schema?.label ?? node.type}`,
      sourcePosition: sides.out,
      targetPosition: sides.in
    };
    if (large && !sameSides) {
      const { width = NODE_SIZE.width, height = NODE_SIZE.height } =
        before?.measured ?? {};
      drawn.measured = { width, height };
      drawn.handles = estimatedHandles(ports, direction, { width, height });
    }
    return drawn;
  });
}

/** Parameters that other nodes use; they are drawn as additional outputs. */
function parameterPorts(graph: GraphData): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { source, source_port: port } of Object.values(graph.edges)) {
    if (port.endsWith(':0')) {
      found.set(source, (found.get(source) ?? new Set()).add(port));
    }
  }
  return found;
}

function withParameters(ports: Ports, more: Set<string> | undefined): Ports {
  if (!more) {
    return ports;
  }
  const known = new Set(ports.outputs.map(port => port.name));
  const added = [...more].filter(name => !known.has(name));
  return {
    inputs: ports.inputs,
    outputs: [...ports.outputs, ...added.map(name => ({ name }))]
  };
}

/** Drops estimated ports once a node is measured. */
export function withoutEstimates(
  nodes: LayerFlowNode[],
  measured: ReadonlySet<string>
): LayerFlowNode[] {
  return nodes.map(node => {
    if (!node.handles || !measured.has(node.id)) {
      return node;
    }
    const { handles: _, ...rest } = node;
    return rest;
  });
}

/** Ids of edges with a mark. */
export interface MarkedEdges {
  broken: ReadonlySet<string>;
  faulty: ReadonlySet<string>;
  dropOn: string | null;
}

/** The edges of a scene, which all have both ends. */
export function flowEdges(
  edges: GraphData['edges'],
  selected: ReadonlySet<string>,
  { broken, faulty, dropOn }: MarkedEdges,
  old: ReadonlyMap<string, LayerFlowEdge>
): LayerFlowEdge[] {
  return Object.entries(edges).map(([id, edge]) => {
    const before = old.get(id);
    const next: LayerFlowEdge = {
      id,
      type: 'data',
      source: edge.source,
      sourceHandle: edge.source_port,
      target: edge.target,
      targetHandle: edge.target_port,
      selected: selected.has(id),
      className: [
        ...(broken.has(id) ? ['labdl-mod-problem'] : []),
        ...(faulty.has(id) ? ['labdl-mod-fault'] : []),
        ...(id === dropOn ? ['labdl-mod-drop'] : [])
      ].join(' ')
    };
    return before && sameJson(before, next) ? before : next;
  });
}
