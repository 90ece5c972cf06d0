// Folds a block into one node and opens it in place; surrounding nodes move accordingly.
import { FRAME } from '../../api/drawing';
import { Change } from '../model/document';
import { framesOf, Rect } from './frame-geometry';
import { Direction, NODE_SIZE, Size } from '../canvas/node-size';
import { GraphData, LayerTable, Position } from '../model/graph-data';
import { LayoutRequest, layoutRequest, Places } from '../canvas/layout-request';
import {
  moveNotes as notesMoved,
  Notes,
  notesInside,
  placesOf,
  visibleNotes
} from '../notes/notes';
import { blockId, foldedPaths, isInside } from '../model/paths';
import { drawnInside, Scene, sceneOf } from '../canvas/scene';

export interface Drawn {
  graph: GraphData;
  layers: LayerTable;
  scene: Scene;
  places: Places;
  direction: Direction;
  sizeOf(id: string): Size;
}

/** Change that folds an open block into one node. */
export function collapseBlock(path: string, drawn: Drawn): Change {
  const { scene, places, direction, sizeOf } = drawn;
  const frame = frameIn(scene, path, places, sizeOf);
  if (!frame) {
    return {};
  }
  const [x, y] = inPlaceOf(frame, NODE_SIZE, direction);
  const box: Rect = { x, y, ...NODE_SIZE };
  const others = without(places, drawnInside(scene, path), scene);
  return {
    positions: {
      ...without(places, [], scene),
      ...movePositions(others, frame, box, drawn),
      [blockId(path)]: [box.x, box.y]
    },
    notes: notesBeside(path, frame, box, drawn)
  };
}

/** Layout request that precedes opening a folded block; null if its contents have positions. */
export function expandRequest(
  path: string,
  drawn: Drawn
): LayoutRequest | null {
  const { scene, stored } = openScene(path, drawn);
  return stored
    ? null
    : layoutRequest(scene, drawn.direction, drawn.sizeOf, path);
}

/** Change that opens a folded block; `arranged` is the answer to its `expandRequest`. */
export function expandBlock(
  path: string,
  drawn: Drawn,
  arranged: Places = {}
): Change {
  const { graph, scene, places, direction, sizeOf } = drawn;
  const id = blockId(path);
  const at = places[id];
  if (!at) {
    return {};
  }
  const box: Rect = { x: at[0], y: at[1], ...sizeOf(id) };
  const others = without(places, [id], scene);
  const { scene: open, stored } = openScene(path, drawn);
  const inner =
    stored ??
    Object.fromEntries(
      drawnInside(open, path)
        .filter(node => arranged[node])
        .map(node => [node, arranged[node]])
    );
  const frame = frameIn(open, path, inner, sizeOf);
  if (!frame) {
    return {};
  }
  const [x, y] = inPlaceOf(box, frame, direction);
  const placed: Places = {};
  for (const [node, place] of Object.entries(inner)) {
    placed[node] = [
      Math.round(place[0] - frame.x + x),
      Math.round(place[1] - frame.y + y)
    ];
  }
  const grown = { ...frame, x, y };
  const inside = notesInside(graph.notes ?? {}, path);
  return {
    positions: {
      ...others,
      ...movePositions(others, box, grown, drawn),
      ...placed,
      [id]: null
    },
    notes: {
      ...notesBeside(path, box, grown, drawn),
      ...notesMoved(inside, note => [
        note.x - frame.x + x,
        note.y - frame.y + y
      ])
    }
  };
}

/** Scene with the block open, and the positions of its contents if all of them have one. */
function openScene(
  path: string,
  { graph, layers, scene, places }: Drawn
): { scene: Scene; stored: Places | null } {
  const id = blockId(path);
  // With positions for all drawn nodes, other folded blocks stay folded.
  const positions = { ...graph.positions, ...without(places, [id], scene) };
  delete positions[id];
  const open = sceneOf({ ...graph, positions }, layers, scene.within);
  const stored = storedInside(open, path);
  return stored
    ? { scene: open, stored }
    : {
        scene: sceneOf(
          foldedInside(graph, positions, path),
          layers,
          scene.within
        ),
        stored
      };
}

/** Moved notes: those beside a block move like nodes, those that overlap it stay. */
function notesBeside(path: string, from: Rect, to: Rect, drawn: Drawn): Notes {
  const notes = visibleNotes(drawn.graph, drawn.scene);
  const inside = notesInside(notes, path);
  const beside = Object.fromEntries(
    Object.entries(notes).filter(
      ([id, { x, y, width, height }]) =>
        !(id in inside) &&
        (x >= from.x + from.width ||
          x + width <= from.x ||
          y >= from.y + from.height ||
          y + height <= from.y)
    )
  );
  const sizeOf = (id: string): Size => notes[id];
  const places = movePositions(placesOf(beside), from, to, {
    ...drawn,
    sizeOf
  });
  return notesMoved(beside, (_, id) => places[id]);
}

/** Positions of the nodes drawn inside a block, if all of them have one. */
function storedInside(scene: Scene, path: string): Places | null {
  const ids = drawnInside(scene, path);
  const { positions } = scene.graph;
  return ids.every(id => positions[id])
    ? Object.fromEntries(ids.map(id => [id, positions[id]]))
    : null;
}

/** Blocks with more layers than this open one level at a time. */
const FEW = 12;

/** Graph with the blocks inside one block folded, if it has many layers. */
function foldedInside(
  graph: GraphData,
  positions: Places,
  path: string
): GraphData {
  const inner = foldedPaths({ ...graph, positions: {} }, path, FEW);
  const marks = [...inner].map(other => [blockId(other), [0, 0]]);
  return {
    ...graph,
    positions: { ...positions, ...Object.fromEntries(marks) }
  };
}

function frameIn(
  scene: Scene,
  path: string,
  places: Places,
  sizeOf: (id: string) => Size
): Rect | undefined {
  const placed = drawnInside(scene, path)
    .filter(id => places[id])
    .map(id => ({
      name: scene.graph.nodes[id].name,
      at: places[id],
      size: sizeOf(id)
    }));
  const open = scene.frames.filter(
    frame => frame === path || isInside(frame, path)
  );
  return framesOf(open, placed).get(path);
}

function without(places: Places, ids: string[], scene: Scene): Places {
  const gone = new Set(ids);
  return Object.fromEntries(
    Object.entries(places).filter(
      ([id]) => !gone.has(id) && !scene.outside.has(id)
    )
  );
}

/** Corner for a rectangle that starts where the old one does and is centered across the flow. */
function inPlaceOf(old: Rect, size: Size, direction: Direction): Position {
  return direction === 'down'
    ? [Math.round(old.x + (old.width - size.width) / 2), Math.round(old.y)]
    : [Math.round(old.x), Math.round(old.y + (old.height - size.height) / 2)];
}

/** New positions of the surrounding nodes when a rectangle changes its size. */
function movePositions(
  others: Places,
  from: Rect,
  to: Rect,
  { direction, sizeOf }: Drawn
): Places {
  const result: Places = {};
  const isDown = direction === 'down';
  const along = isDown ? 1 : 0;
  const across = isDown ? 0 : 1;
  const bounds = ({ x, y, width, height }: Rect) =>
    isDown ? [x, y, width, height] : [y, x, height, width];
  const [side, begin, width, length] = bounds(from);
  const [, , newWidth, newLength] = bounds(to);
  const middle = side + width / 2;
  for (const [id, place] of Object.entries(others)) {
    const size = sizeOf(id);
    const own = bounds({ x: place[0], y: place[1], ...size });
    const next: Position = [...place];
    if (own[1] >= begin + length - FRAME.padding) {
      next[along] = Math.round(place[along] + newLength - length);
    } else if (own[1] + own[3] > begin + FRAME.padding) {
      const way = own[0] + own[2] / 2 < middle ? -1 : 1;
      next[across] = Math.round(place[across] + (way * (newWidth - width)) / 2);
    } else {
      continue;
    }
    result[id] = next;
  }
  return result;
}
