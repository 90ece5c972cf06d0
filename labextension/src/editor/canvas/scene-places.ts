// Positions of the nodes of a scene.
import { Position } from '../model/graph-data';
import { Places } from './layout-request';
import { Direction, NODE_SIZE } from './node-size';
import { placeAll } from './placement';
import { Scene } from './scene';

/** Distance between the entered block and the nodes outside it. */
const BEYOND = 96;

/** Whether no node of a scene has a position, so that the host arranges all of them. */
export function isUnplaced({ graph, outside }: Scene): boolean {
  return Object.keys(graph.nodes).every(
    id => outside.has(id) || !graph.positions[id]
  );
}

/** A position for every node: from the document, else from the layout, else a free one. */
export function placeScene(
  scene: Scene,
  direction: Direction,
  arranged: Places = {}
): Places {
  const { graph, outside } = scene;
  const nodes = outside.size
    ? Object.fromEntries(
        Object.entries(graph.nodes).filter(([id]) => !outside.has(id))
      )
    : graph.nodes;
  const positions = isUnplaced(scene) ? arranged : graph.positions;
  const inner = placeAll({ ...graph, nodes, positions }, direction);
  return outside.size
    ? { ...inner, ...positionsOutside(scene, inner, direction) }
    : inner;
}

/** Positions of the nodes outside: sources before the nodes they feed, consumers behind, side by side. */
function positionsOutside(
  scene: Scene,
  inner: Places,
  direction: Direction
): Places {
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
