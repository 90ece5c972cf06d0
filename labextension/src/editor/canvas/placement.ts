// Positions of nodes: those of the document, and computed ones for nodes without a position.
import { GraphData, Position } from '../model/graph-data';
import { Direction, NODE_SIZE, Size } from './node-size';

type Places = { [id: string]: Position };

/** Distance between a node and the next one. */
export const GAP = 44;

/** Direction of the flow, estimated from positions; `preferred` if they are ambiguous. */
export function directionOf(
  graph: GraphData,
  preferred: Direction = 'down'
): Direction {
  let down = 0;
  let right = 0;
  for (const { source, target } of Object.values(graph.edges)) {
    const from = graph.positions[source];
    const to = graph.positions[target];
    if (from && to) {
      // distances relative to the size of a node
      right += Math.abs(to[0] - from[0]) / NODE_SIZE.width;
      down += Math.abs(to[1] - from[1]) / NODE_SIZE.height;
    }
  }
  return right === down ? preferred : right > down ? 'right' : 'down';
}

/** Upper left corner of a node with the given center. */
export function centerAt([x, y]: Position): Position {
  return [
    Math.round(x - NODE_SIZE.width / 2),
    Math.round(y - NODE_SIZE.height / 2)
  ];
}

/** Distance to other nodes that a new one keeps. */
const MARGIN = 12;

/** A position near `wanted` where a new node stands free of all others. */
export function freePlace(
  wanted: Position,
  places: Places,
  direction: Direction,
  sizeOf: (id: string) => Size = () => NODE_SIZE
): Position {
  const size = NODE_SIZE;
  const step = direction === 'down' ? size.width : size.height;
  const [x, y] = wanted;
  const layerAreas = Object.entries(places).map(([id, at]) => ({
    at,
    ...sizeOf(id)
  }));
  const isFree = ([left, top]: Position) =>
    layerAreas.every(
      ({ at, width, height }) =>
        left >= at[0] + width + MARGIN ||
        at[0] >= left + size.width + MARGIN ||
        top >= at[1] + height + MARGIN ||
        at[1] >= top + size.height + MARGIN
    );
  for (let n = 0; n <= layerAreas.length; n++) {
    const shift = n * (step + GAP / 2);
    const place: Position =
      direction === 'down' ? [x + shift, y] : [x, y + shift];
    if (isFree(place)) {
      return place;
    }
  }
  return wanted;
}

/** The position behind a node, in the direction of the flow. */
export function placeAfter(
  at: Position,
  direction: Direction,
  size: Size = NODE_SIZE
): Position {
  return direction === 'down'
    ? [at[0], at[1] + size.height + GAP]
    : [at[0] + size.width + GAP, at[1]];
}

/** A position for every node; those of the document are kept. */
export function placeAll(graph: GraphData, direction: Direction): Places {
  const missing = Object.keys(graph.nodes).filter(id => !graph.positions[id]);
  if (missing.length === 0) {
    return graph.positions;
  }
  const places: Places = { ...graph.positions };
  const source = new Map<string, string>();
  for (const edge of Object.values(graph.edges)) {
    if (!source.has(edge.target)) {
      source.set(edge.target, edge.source);
    }
  }
  const corner = cornerOf(Object.values(graph.positions));
  // Several passes, since a node may follow another one without a position.
  for (let open = missing; open.length;) {
    const waiting = open.filter(id => !(id in places));
    const next = waiting.filter(id => (source.get(id) ?? '') in places);
    for (const id of next.length ? next : waiting.slice(0, 1)) {
      const before = places[source.get(id) ?? ''];
      const wanted = before ? placeAfter(before, direction) : corner;
      places[id] = freePlace(wanted, places, direction);
    }
    open = waiting.filter(id => !(id in places));
  }
  return places;
}

function cornerOf(positions: Position[]): Position {
  const right = positions.reduce((most, [x]) => Math.max(most, x), 0);
  const top = positions.reduce((least, [, y]) => Math.min(least, y), Infinity);
  return [right + NODE_SIZE.width + 2 * GAP, Number.isFinite(top) ? top : 0];
}
