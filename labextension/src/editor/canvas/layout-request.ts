// Layout requests to the host; the layout is computed in Python (labdl/graph/drawing).
import type { LayoutRequest } from '../../api/layout';
import { GraphData, Position } from '../model/graph-data';
import { isInside } from '../model/paths';
import { Direction, expectedSize, NODE_SIZE, Size } from './node-size';
import { drawnInside, Scene } from './scene';

export type { LayoutRequest };

export type Places = { [id: string]: Position };

/** Request for the nodes of a scene, or of one open block in it. */
export function layoutRequest(
  scene: Scene,
  direction: Direction,
  sizeOf: (id: string) => Size = expectedSizes(scene, direction),
  path = scene.within
): LayoutRequest {
  const { nodes, edges } = scene.graph;
  const ids = drawnInside(scene, path);
  return requestFor(
    ids.map(id => [id, { name: nodes[id].name, ...sizeOf(id) }]),
    Object.values(edges),
    scene.frames.filter(frame => isInside(frame, path)),
    direction
  );
}

/** Request for all nodes of a graph, without frames around blocks. */
export function flatLayoutRequest(
  graph: Pick<GraphData, 'nodes' | 'edges'>,
  direction: Direction
): LayoutRequest {
  return requestFor(
    Object.entries(graph.nodes).map(([id, { name }]) => [
      id,
      { name, ...NODE_SIZE }
    ]),
    Object.values(graph.edges),
    [],
    direction
  );
}

/** Positions in one row, as a fallback if the layout fails. */
export function placesInRow({ nodes, direction }: LayoutRequest): Places {
  let along = 0;
  const places: Places = {};
  for (const [id, { width, height }] of Object.entries(nodes)) {
    places[id] = direction === 'down' ? [0, along] : [along, 0];
    along += 2 * (direction === 'down' ? height : width);
  }
  return places;
}

function requestFor(
  nodes: [string, LayoutRequest['nodes'][string]][],
  edges: { source: string; target: string }[],
  frames: string[],
  direction: Direction
): LayoutRequest {
  const known = new Set(nodes.map(([id]) => id));
  return {
    nodes: Object.fromEntries(nodes),
    edges: edges
      .filter(({ source, target }) => known.has(source) && known.has(target))
      .map(({ source, target }) => [source, target]),
    frames,
    direction
  };
}

function expectedSizes(
  scene: Scene,
  direction: Direction
): (id: string) => Size {
  return id =>
    scene.blocks.has(id)
      ? NODE_SIZE
      : expectedSize(scene.layers.get(scene.graph.nodes[id]?.type), direction);
}
