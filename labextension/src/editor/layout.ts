// Layered layout of a graph: layers by longest path, order by barycentre, straight where possible.
// O(V + E) a sweep and without recursion, so that a chain of thousands is fine.
import { Ports } from './connect';
import { GraphData, Position } from './model';
import { spread } from './spread';

export type Direction = 'down' | 'right';

export interface Size {
  width: number;
  height: number;
}

export const NODE_SIZE: Size = { width: 208, height: 58 };

const GAP_ACROSS = 48;
/** Room for the shapes beside the connections, which are wider than high. */
const GAP_ALONG = { down: 44, right: 124 };
const GAP_PARTS = 80;
const SWEEPS = 6;

/** How large a layer becomes when it is drawn: the names of several ports on a side need a line. */
export function expectedSize(
  ports: Ports | undefined,
  direction: Direction
): Size {
  const { width, height } = NODE_SIZE;
  const named = (side: readonly unknown[] = []) => Number(side.length > 1);
  return direction === 'down'
    ? {
        width,
        height: height + 12 * named(ports?.inputs) + 14 * named(ports?.outputs)
      }
    : NODE_SIZE;
}

/** A node while it is laid out; `across` and `along` are its centre. */
interface Box {
  id: string;
  before: Box[];
  after: Box[];
  layer: number;
  width: number;
  length: number;
  across: number;
  along: number;
  index: number;
}

/** Positions (upper left corners) for all nodes of a graph. */
export function layout(
  graph: Pick<GraphData, 'nodes' | 'edges'>,
  direction: Direction,
  sizeOf: (id: string) => Size = () => NODE_SIZE
): { [id: string]: Position } {
  const boxes = makeBoxes(graph, direction, sizeOf);
  const parts = partsOf(boxes);
  parts.forEach(part => layOutPart(part, GAP_ALONG[direction]));
  packParts(parts);
  const positions: { [id: string]: Position } = {};
  for (const box of boxes) {
    const across = Math.round(box.across - box.width / 2);
    const along = Math.round(box.along - box.length / 2);
    positions[box.id] =
      direction === 'down' ? [across, along] : [along, across];
  }
  return positions;
}

function makeBoxes(
  graph: Pick<GraphData, 'nodes' | 'edges'>,
  direction: Direction,
  sizeOf: (id: string) => Size
): Box[] {
  const boxes = new Map<string, Box>();
  Object.keys(graph.nodes).forEach((id, index) => {
    const { width, height } = sizeOf(id);
    boxes.set(id, {
      id,
      before: [],
      after: [],
      layer: 0,
      width: direction === 'down' ? width : height,
      length: direction === 'down' ? height : width,
      across: 0,
      along: 0,
      index
    });
  });
  for (const edge of Object.values(graph.edges)) {
    const source = boxes.get(edge.source);
    const target = boxes.get(edge.target);
    if (source && target && source !== target) {
      source.after.push(target);
      target.before.push(source);
    }
  }
  return [...boxes.values()];
}

/** The connected parts, each in the graph's order. */
function partsOf(boxes: Box[]): Box[][] {
  const seen = new Set<Box>();
  const parts: Box[][] = [];
  for (const first of boxes) {
    if (seen.has(first)) {
      continue;
    }
    const part: Box[] = [];
    const open = [first];
    seen.add(first);
    for (let box = open.pop(); box; box = open.pop()) {
      part.push(box);
      for (const next of [...box.before, ...box.after]) {
        if (!seen.has(next)) {
          seen.add(next);
          open.push(next);
        }
      }
    }
    parts.push(part.sort((a, b) => a.index - b.index));
  }
  return parts;
}

/** Sources first; in a loop the earliest node goes first. */
function inOrder(part: Box[]): Box[] {
  const waiting = new Map(part.map(box => [box, box.before.length]));
  const ready = part.filter(box => box.before.length === 0);
  const done = new Set<Box>();
  const order: Box[] = [];
  let next = 0;
  let rest = 0;
  while (order.length < part.length) {
    if (next === ready.length) {
      while (done.has(part[rest])) {
        rest++;
      }
      ready.push(part[rest]);
    }
    const box = ready[next++];
    if (done.has(box)) {
      continue;
    }
    done.add(box);
    order.push(box);
    for (const target of box.after) {
      const left = (waiting.get(target) ?? 0) - 1;
      waiting.set(target, left);
      if (left === 0) {
        ready.push(target);
      }
    }
  }
  return order;
}

function layersOf(part: Box[]): Box[][] {
  const order = inOrder(part);
  const rank = new Map(order.map((box, index) => [box, index]));
  const isBefore = (a: Box, b: Box) => (rank.get(a) ?? 0) < (rank.get(b) ?? 0);
  for (const box of order) {
    box.layer = 0;
    for (const source of box.before) {
      if (isBefore(source, box)) {
        box.layer = Math.max(box.layer, source.layer + 1);
      }
    }
  }
  // A source stands right above its first reader, not at the very top.
  for (const box of order) {
    const readers = box.after.filter(target => isBefore(box, target));
    if (box.before.length === 0 && readers.length) {
      box.layer = readers.reduce(
        (least, target) => Math.min(least, target.layer - 1),
        Infinity
      );
    }
  }
  const layers: Box[][] = [];
  for (const box of order) {
    (layers[box.layer] ??= []).push(box);
  }
  return layers.filter(Boolean);
}

function mean(boxes: Box[], fallback: number): number {
  return boxes.length
    ? boxes.reduce((sum, box) => sum + box.across, 0) / boxes.length
    : fallback;
}

function layOutPart(part: Box[], gap: number): void {
  const layers = layersOf(part);
  for (const layer of layers) {
    arrange(layer, box => mean(box.before, box.index));
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 1;
    for (const layer of down ? layers : [...layers].reverse()) {
      arrange(layer, box => mean(down ? box.before : box.after, box.across));
    }
  }
  let along = 0;
  for (const layer of layers) {
    const length = layer.reduce((most, box) => Math.max(most, box.length), 0);
    layer.forEach(box => (box.along = along + length / 2));
    along += length + gap;
  }
}

/** Orders a layer by where its boxes want to be and puts them there, apart. */
function arrange(layer: Box[], wish: (box: Box) => number): void {
  const wanted = layer
    .map(box => ({ box, at: wish(box) }))
    .sort((a, b) => a.at - b.at || a.box.across - b.box.across);
  const places = spread(
    wanted.map(({ box, at }) => ({ at, width: box.width })),
    GAP_ACROSS
  );
  wanted.forEach(({ box }, index) => {
    layer[index] = box;
    box.across = places[index];
  });
}

/** Puts parts side by side, in rows about as long as the whole is high. */
function packParts(parts: Box[][]): void {
  const frames = parts.map(part => {
    const least = (of: (box: Box) => number) =>
      part.reduce((value, box) => Math.min(value, of(box)), Infinity);
    const across = least(box => box.across - box.width / 2);
    const along = least(box => box.along - box.length / 2);
    return {
      part,
      across,
      along,
      width: -least(box => -box.across - box.width / 2) - across,
      length: -least(box => -box.along - box.length / 2) - along
    };
  });
  const area = frames.reduce(
    (sum, frame) =>
      sum + (frame.width + GAP_PARTS) * (frame.length + GAP_PARTS),
    0
  );
  const widest = frames.reduce((most, f) => Math.max(most, f.width), 0);
  const limit = Math.max(widest, 1.3 * Math.sqrt(area));
  let x = 0;
  let y = 0;
  let rowLength = 0;
  for (const frame of frames) {
    if (x > 0 && x + frame.width > limit) {
      y += rowLength + GAP_PARTS;
      x = 0;
      rowLength = 0;
    }
    for (const box of frame.part) {
      box.across += x - frame.across;
      box.along += y - frame.along;
    }
    x += frame.width + GAP_PARTS;
    rowLength = Math.max(rowLength, frame.length);
  }
}
