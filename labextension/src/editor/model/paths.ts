// Names of nodes are paths: "encoder/0/linear" stands in the blocks "encoder" and "encoder/0".
import { GraphData } from './graph-data';

/** The blocks in which a name stands, the outermost first. */
export function pathsOf(name: string): string[] {
  const words = name.split('/');
  return words.slice(1).map((_, at) => words.slice(0, at + 1).join('/'));
}

/** Whether a name or a block stands in a block; all stand in the model, which is called "". */
export function isInside(name: string, path: string): boolean {
  return path === '' || name.startsWith(`${path}/`);
}

/** The id under which a folded block is drawn, and under which its place is kept. */
export function blockId(path: string): string {
  return `${path}/`;
}

/** Whether this is the id of a folded block. */
export function isBlock(id: string): boolean {
  return id.endsWith('/');
}

/** The path of the folded block with this id. */
export function blockPath(id: string): string {
  return id.slice(0, -1);
}

/** A name as it is called in a block that holds it. */
export function nameIn(name: string, path: string): string {
  return path && isInside(name, path) ? name.slice(path.length + 1) : name;
}

/** The block that a name or a block stands in directly. */
export function parentOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')));
}

/** The last word of a name. */
export function wordOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** The longest path that all these names stand in. */
export function commonPath(names: string[]): string {
  const [first = '', ...rest] = names.map(parentOf);
  const words = first.split('/');
  const same = (n: number) =>
    rest.every(path =>
      `${path}/`.startsWith(`${words.slice(0, n).join('/')}/`)
    );
  let n = words.length;
  while (n > 0 && !same(n)) {
    n--;
  }
  return words.slice(0, n).join('/');
}

/** Blocks that only hold others. */
export const CONTAINERS = ['ModuleList', 'ModuleDict'];

/** From so many nodes on, a graph that nobody has arranged opens with its blocks folded. */
const MANY = 60;

/** The blocks that are drawn as one box: those that have a place, and in a large graph without places the outermost. */
export function foldedPaths(
  graph: GraphData,
  within: string,
  many = MANY
): Set<string> {
  const inside = Object.entries(graph.nodes).filter(([, { name }]) =>
    isInside(name, within)
  );
  const folded = new Set<string>();
  let isPlaced = false;
  for (const [id, { name }] of inside) {
    isPlaced ||= id in graph.positions;
    for (const path of pathsOf(name)) {
      if (isInside(path, within) && blockId(path) in graph.positions) {
        folded.add(path);
      }
    }
  }
  if (isPlaced || folded.size || inside.length <= many) {
    return folded;
  }
  for (const [, { name }] of inside) {
    const outermost = pathsOf(name).find(
      path =>
        isInside(path, within) &&
        !CONTAINERS.includes(graph.groups?.[path] ?? '')
    );
    if (outermost !== undefined) {
      folded.add(outermost);
    }
  }
  return folded;
}
