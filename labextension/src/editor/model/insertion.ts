// Insertion of a new layer, behind an output, before an input or into an edge, and its effect on the surrounding nodes.
import { reachable, edgesReplacedBy } from './connect';
import { Around } from './document';
import { Direction, NODE_SIZE, Size } from '../canvas/node-size';
import { GraphData, LayerSchema, LayerTable, Position } from './graph-data';
import { centerAt, GAP } from '../canvas/placement';

/** Target of an insertion: an output, an input or an edge. */
export type Spot =
  | { after: { node: string; port: string } }
  | { before: { node: string; port: string } }
  | { edge: string };

/** Whether a layer has the ports that an insertion needs. */
export function fits(layer: LayerSchema, spot: Spot | undefined): boolean {
  const needsInput = spot !== undefined && !('before' in spot);
  const needsOutput = spot !== undefined && !('after' in spot);
  return (
    (!needsInput || layer.inputs.length > 0) &&
    (!needsOutput || layer.outputs.length > 0)
  );
}

/** The edges that insert a layer; none if it does not fit or the target no longer exists. */
export function edgesAt(
  layer: LayerSchema,
  spot: Spot,
  graph: GraphData,
  layers: LayerTable
): Around {
  if (!fits(layer, spot)) {
    return {};
  }
  const [input] = layer.inputs;
  const [output] = layer.outputs;
  if ('edge' in spot) {
    const edge = graph.edges[spot.edge];
    if (!edge || !graph.nodes[edge.source] || !graph.nodes[edge.target]) {
      return {};
    }
    const { source, source_port, target, target_port } = edge;
    return {
      incoming: [{ source, source_port, target_port: input.name }],
      outgoing: [{ source_port: output.name, target, target_port }],
      replaced: [spot.edge]
    };
  }
  const { node, port } = 'after' in spot ? spot.after : spot.before;
  if (!graph.nodes[node]) {
    return {};
  }
  if ('after' in spot) {
    return {
      incoming: [{ source: node, source_port: port, target_port: input.name }]
    };
  }
  // The source is not in the graph yet; the replaced edges do not depend on it.
  const edge = { source_port: output.name, target: node, target_port: port };
  return {
    outgoing: [edge],
    replaced: edgesReplacedBy({ ...edge, source: '' }, graph, layers)
  };
}

/** The upper left corner of a new node at the pointer. */
export function cornerAt(
  [x, y]: Position,
  spot: Spot | undefined,
  direction: Direction
): Position {
  const [left, top] = centerAt([x, y]);
  if (!spot || 'edge' in spot) {
    return [left, top];
  }
  // The connected port is at the end of the drawn link.
  const isAfter = 'after' in spot;
  return direction === 'down'
    ? [left, Math.round(isAfter ? y : y - NODE_SIZE.height)]
    : [Math.round(isAfter ? x : x - NODE_SIZE.width), top];
}

interface PlacedNodes {
  places: { [id: string]: Position };
  direction: Direction;
  sizeOf(id: string): Size;
}

/** The position of a node in an edge, and new positions of the nodes behind it if there is not enough room. */
export function roomInside(
  edgeId: string,
  [left, top]: Position,
  graph: GraphData,
  { places, direction, sizeOf }: PlacedNodes
): { position: Position; moved: { [id: string]: Position } } {
  const { source, target } = graph.edges[edgeId];
  const [axis, side] =
    direction === 'down' ? ([1, 'height'] as const) : ([0, 'width'] as const);
  const begin = places[source][axis] + sizeOf(source)[side];
  const end = places[target][axis];
  const position: Position = [left, top];
  if (end < begin) {
    return { position, moved: {} }; // the edge runs backwards: no node is behind it
  }
  position[axis] = Math.max(position[axis], Math.round(begin + GAP));
  const shift = position[axis] + NODE_SIZE[side] + GAP - end;
  if (shift <= 0) {
    return { position, moved: {} };
  }
  // Nodes without a position keep the one they are drawn at.
  const moved = { ...places };
  for (const id of reachable(target, graph)) {
    if (places[id] && places[id][axis] >= end) {
      const place: Position = [...places[id]];
      place[axis] = Math.round(place[axis] + shift);
      moved[id] = place;
    }
  }
  return { position, moved };
}

/** The center between the two ends of an edge. */
export function middleOf(
  edgeId: string,
  graph: GraphData,
  { places, sizeOf }: PlacedNodes
): Position {
  const { source, target } = graph.edges[edgeId];
  const [a, b] = [source, target].map(id => {
    const { width, height } = sizeOf(id);
    return [places[id][0] + width / 2, places[id][1] + height / 2];
  });
  return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
}
