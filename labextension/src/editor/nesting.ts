// Arranges a scene: each open block on its own, then as one box in what holds it.
import { around, framed, Rect } from './frames';
import { Direction, expectedSize, layout, NODE_SIZE, Size } from './layout';
import { NodeData, Position } from './model';
import { isInside, pathsOf } from './paths';
import { placeAll } from './placement';
import { drawnInside, Scene } from './scene';

type Places = { [id: string]: Position };

/** Between a node and those beyond the block that was entered. */
const BEYOND = 96;

function sizesIn(scene: Scene, direction: Direction): (id: string) => Size {
  return id =>
    scene.blocks.has(id)
      ? NODE_SIZE
      : expectedSize(scene.layers.get(scene.graph.nodes[id]?.type), direction);
}

/** Places for all nodes of a scene, or for those of one open block in it. */
export function arranged(
  scene: Scene,
  direction: Direction,
  sizeOf: (id: string) => Size = sizesIn(scene, direction),
  path = scene.within
): Places {
  // What holds each node, from the outside in; an open block is written as its path and two strokes.
  const frames = new Set(scene.frames);
  const chains = new Map<string, string[]>();
  const held = new Map<string, Set<string>>([[`${path}//`, new Set()]]);
  for (const id of drawnInside(scene, path)) {
    const open = pathsOf(scene.graph.nodes[id].name).filter(
      parent => frames.has(parent) && isInside(parent, path)
    );
    const chain = [path, ...open].map(frame => `${frame}//`).concat(id);
    chains.set(id, chain);
    chain.slice(1).forEach((item, at) => {
      held.set(chain[at], (held.get(chain[at]) ?? new Set()).add(item));
    });
  }

  const arrange = (level: string): { places: Places; rect: Rect } => {
    const items = [...(held.get(level) ?? [])];
    const insides = new Map(
      items.filter(id => held.has(id)).map(id => [id, arrange(id)])
    );
    const itemOf = (id: string) => {
      const chain = chains.get(id) ?? [];
      const at = chain.indexOf(level);
      return at < 0 ? '' : chain[at + 1];
    };
    const size = (id: string): Size => insides.get(id)?.rect ?? sizeOf(id);
    const edges = Object.values(scene.graph.edges).map(edge => ({
      ...edge,
      source: itemOf(edge.source),
      target: itemOf(edge.target)
    }));
    const outer = layout(
      {
        nodes: Object.fromEntries(items.map(id => [id, PLACEHOLDER])),
        edges: Object.fromEntries(edges.entries())
      },
      direction,
      size
    );
    const places: Places = {};
    for (const [id, [x, y]] of Object.entries(outer)) {
      const inside = insides.get(id);
      if (!inside) {
        places[id] = [x, y];
      }
      for (const [inner, at] of Object.entries(inside?.places ?? {})) {
        const { rect } = inside as { rect: Rect };
        places[inner] = [
          Math.round(at[0] - rect.x + x),
          Math.round(at[1] - rect.y + y)
        ];
      }
    }
    const rects = Object.entries(outer).map(([id, [x, y]]) => {
      const { width, height } = size(id);
      return { x, y, width, height };
    });
    return { places, rect: framed(around(rects) ?? EMPTY) };
  };
  return arrange(`${path}//`).places;
}

const PLACEHOLDER: NodeData = { type: '', name: '', params: {} };
const EMPTY: Rect = { x: 0, y: 0, width: 0, height: 0 };

/** A place for every node of a scene; the document's own where it has one. */
export function placeScene(scene: Scene, direction: Direction): Places {
  const { graph, outside } = scene;
  const nodes = outside.size
    ? Object.fromEntries(
        Object.entries(graph.nodes).filter(([id]) => !outside.has(id))
      )
    : graph.nodes;
  const isPlaced = Object.keys(nodes).some(id => graph.positions[id]);
  const inner = isPlaced
    ? placeAll({ ...graph, nodes }, direction)
    : arranged(scene, direction);
  return outside.size
    ? { ...inner, ...beyond(scene, inner, direction) }
    : inner;
}

/** Before those that they feed and after those that feed them, side by side. */
function beyond(scene: Scene, inner: Places, direction: Direction): Places {
  const [along, across] = direction === 'down' ? [1, 0] : [0, 1];
  const length = direction === 'down' ? NODE_SIZE.height : NODE_SIZE.width;
  const width = direction === 'down' ? NODE_SIZE.width : NODE_SIZE.height;
  const all = Object.values(inner);
  const least = all.reduce((low, at) => Math.min(low, at[along]), Infinity);
  const most = all.reduce((high, at) => Math.max(high, at[along]), -Infinity);
  const places: Places = {};
  const rows = { before: [] as number[], after: [] as number[] };
  for (const id of scene.outside) {
    const edges = Object.values(scene.graph.edges);
    const readers = edges.filter(edge => edge.source === id);
    const givers = edges.filter(edge => edge.target === id);
    const row = readers.length ? 'before' : 'after';
    const near = (row === 'before' ? readers : givers).map(edge => {
      const place = inner[row === 'before' ? edge.target : edge.source];
      return place ? place[across] : 0;
    });
    let middle = near.reduce((sum, at) => sum + at, 0) / (near.length || 1);
    while (rows[row].some(at => Math.abs(at - middle) < width + 24)) {
      middle += width + 24;
    }
    rows[row].push(middle);
    const place: Position = [0, 0];
    place[across] = Math.round(middle);
    place[along] =
      row === 'before' ? least - BEYOND - length : most + BEYOND + length;
    places[id] = place;
  }
  return places;
}
