// Names of nodes are paths: "encoder/0/linear" is in the blocks "encoder" and "encoder/0".
import { GraphData } from './graph-data';

/** The blocks that contain a name, outermost first. */
export function pathsOf(name: string): string[] {
  const paths: string[] = [];
  for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) {
    paths.push(name.slice(0, at));
  }
  return paths;
}

/** Whether a name or path is inside a block; the whole model is "". */
export function isInside(name: string, path: string): boolean {
  return path === '' || name.startsWith(`${path}/`);
}

/** The id of a folded block, also the key of its position. */
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

/** A name relative to a block that contains it. */
export function nameIn(name: string, path: string): string {
  return path && isInside(name, path) ? name.slice(path.length + 1) : name;
}

/** The block that directly contains a name or path. */
export function parentOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')));
}

/** The last part of a name. */
export function wordOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** The longest path that contains all of these names. */
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

/** Classes of blocks that only contain others. */
export const CONTAINERS = ['ModuleList', 'ModuleDict'];

/** Number of nodes from which a graph without positions opens with folded blocks. */
const MANY = 60;

/** The folded blocks: those with a position, and the outermost ones of a large graph without positions. */
export function foldedPaths(
  graph: GraphData,
  within: string,
  many = MANY
): Set<string> {
  const inside = Object.entries(graph.nodes).filter(([, { name }]) =>
    isInside(name, within)
  );
  const folded = new Set<string>();
  const isPlaced = inside.some(([id]) => id in graph.positions);
  if (Object.keys(graph.positions).some(isBlock)) {
    for (const [, { name }] of inside) {
      for (const path of pathsOf(name)) {
        if (isInside(path, within) && blockId(path) in graph.positions) {
          folded.add(path);
        }
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
