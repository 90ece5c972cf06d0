// Where the nodes of a scene are drawn.
import { Position } from '../model/graph-data';
import { Places } from './layout-request';
import { Direction, NODE_SIZE } from './node-size';
import { placeAll } from './placement';
import { Scene } from './scene';

/** Between a node and those beyond the block that was entered. */
const BEYOND = 96;

/** Whether no node of a scene has a position, so that all of them are to be arranged. */
export function isUnplaced({ graph, outside }: Scene): boolean {
  return Object.keys(graph.nodes).every(
    id => outside.has(id) || !graph.positions[id]
  );
}

/** A place for every node: the document's own, else the one at which it was arranged, else a free one. */
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
