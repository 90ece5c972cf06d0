// Common layout of two models: unchanged nodes have the same position on both sides.
import { Difference, MarkKind, Union, unionOf } from './diff-data';
import { expectedSize, NODE_SIZE, Size } from '../canvas/node-size';
import { GraphData, LayerTable, Position } from '../model/graph-data';
import { LayoutRequest, layoutRequest, Places } from '../canvas/layout-request';
import { blockId, CONTAINERS, pathsOf } from '../model/paths';
import { Scene, sceneOf } from '../canvas/scene';

/** Up to this number of layers nothing is folded; above it, blocks without differences are. */
const FEW = 40;
/** Height of the mark above a node. */
export const STRIP = 21;

/** Union of both graphs as a scene, before the layout. */
export interface DiffScene {
  union: Union;
  scene: Scene;
  sizeOf(id: string): Size;
  folded: ReadonlySet<string>;
  request: LayoutRequest;
}

export interface DiffLayout extends DiffScene {
  places: Places;
  /** Both graphs with their positions. */
  old: GraphData;
  new: GraphData;
}

/** Scene of both graphs; `toggled` are blocks that the user has opened or folded. */
export function diffScene(
  old: GraphData,
  next: GraphData,
  difference: Difference,
  layers: LayerTable,
  toggled: ReadonlySet<string>
): DiffScene {
  const union = unionOf(old, next, difference);
  const { graph, marks } = union;
  const folded = foldedBlocks(union, toggled);
  const positions: { [id: string]: Position } = {};
  // nodes with a position are drawn, so that only the chosen blocks are folded
  Object.keys(graph.nodes).forEach(id => (positions[id] = [0, 0]));
  folded.forEach(path => (positions[blockId(path)] = [0, 0]));
  const scene = sceneOf({ ...graph, positions }, layers, '');
  const sizeOf = (id: string): Size => {
    const size = scene.blocks.has(id)
      ? NODE_SIZE
      : expectedSize(scene.layers.get(scene.graph.nodes[id].type), 'down');
    const members = scene.blocks.get(id)?.members ?? [id];
    return members.some(member => marks.has(member))
      ? { ...size, height: size.height + STRIP }
      : size;
  };
  const request = layoutRequest(scene, 'down', sizeOf);
  return { union, scene, sizeOf, folded, request };
}

/** Layout of both graphs from the `places` that the host computed for the scene's request. */
export function diffLayout(
  old: GraphData,
  next: GraphData,
  joint: DiffScene,
  places: Places
): DiffLayout {
  const { union, folded } = joint;
  const sideOf = (side: GraphData, unionId: (id: string) => string) => {
    const own: Places = {};
    for (const [id, { name }] of Object.entries(side.nodes)) {
      const box = pathsOf(name).find(path => folded.has(path));
      const [key, place] =
        box === undefined
          ? [id, places[unionId(id)]]
          : [blockId(box), places[blockId(box)]];
      if (place) {
        own[key] = place;
      }
    }
    return { ...side, positions: own, notes: {} };
  };
  return {
    ...joint,
    places,
    old: sideOf(old, union.idOf),
    new: sideOf(next, id => id)
  };
}

type State = MarkKind | 'same';

/** The outermost blocks whose nodes are all unchanged, all added or all removed. */
function foldedBlocks(
  { graph, marks, rewired }: Union,
  toggled: ReadonlySet<string>
): Set<string> {
  const states = new Map<string, Set<State>>();
  const counts = new Map<string, number>();
  for (const [id, { name }] of Object.entries(graph.nodes)) {
    const state = marks.get(id) ?? 'same';
    for (const path of pathsOf(name)) {
      states.set(path, (states.get(path) ?? new Set()).add(state));
      counts.set(path, (counts.get(path) ?? 0) + 1);
    }
  }
  const isMany = Object.keys(graph.nodes).length > FEW;
  const isFolded = (path: string) => {
    const inside = [...(states.get(path) ?? [])];
    const isUniform =
      inside.length === 1 &&
      (inside[0] === 'same'
        ? !rewired.has(path)
        : ['added', 'removed'].includes(inside[0]));
    const isContainer = CONTAINERS.includes(graph.groups?.[path] ?? '');
    const isAtFirst =
      isMany && isUniform && !isContainer && (counts.get(path) ?? 0) > 1;
    return isAtFirst !== toggled.has(path);
  };
  const folded = new Set<string>();
  for (const { name } of Object.values(graph.nodes)) {
    const outermost = pathsOf(name).find(isFolded);
    if (outermost !== undefined) {
      folded.add(outermost);
    }
  }
  return folded;
}
