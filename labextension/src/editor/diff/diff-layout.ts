// Two models as one scene, which the host arranges: what is the same stands at the same place on both sides.
import { Difference, MarkKind, Union, unionOf } from './diff-data';
import { expectedSize, NODE_SIZE, Size } from '../canvas/node-size';
import { GraphData, LayerTable, Position } from '../model/graph-data';
import { LayoutRequest, layoutRequest, Places } from '../canvas/layout-request';
import { blockId, CONTAINERS, pathsOf } from '../model/paths';
import { Scene, sceneOf } from '../canvas/scene';

/** Up to so many layers all are shown, above that blocks without a difference inside are drawn as one box. */
const FEW = 40;
/** The line over a node that says what happened to it. */
export const STRIP = 21;

/** Both graphs in one, as they are drawn, before they are arranged. */
export interface DiffScene {
  union: Union;
  scene: Scene;
  sizeOf(id: string): Size;
  folded: ReadonlySet<string>;
  request: LayoutRequest;
}

export interface DiffLayout extends DiffScene {
  places: Places;
  /** The two graphs with their places. */
  old: GraphData;
  new: GraphData;
}

/** `toggled` are the blocks that a person has opened or folded against what they were at first. */
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
  // with a place for each, nothing is folded but what has one as a block
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

/** `places` answer the request of the scene. */
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

/** The outermost blocks in which all is the same, or all new, or all gone. */
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
