// Aligns and distributes selected nodes.
import { Size } from '../canvas/node-size';
import { Position } from '../model/graph-data';

export type Alignment =
  | 'left'
  | 'center'
  | 'right'
  | 'top'
  | 'middle'
  | 'bottom'
  | 'spread-across'
  | 'spread-down';

export interface Place {
  position: Position;
  size: Size;
}

/** New positions of nodes, aligned to the outermost edge or the center. */
export function alignNodes(
  nodes: { [id: string]: Place },
  how: Alignment
): { [id: string]: Position } {
  const axis = /left|center|right|across/.test(how) ? 0 : 1;
  const begin = (id: string) => nodes[id].position[axis];
  const length = (id: string) =>
    axis === 0 ? nodes[id].size.width : nodes[id].size.height;
  const ids = Object.keys(nodes);
  const first = Math.min(...ids.map(begin));
  const last = Math.max(...ids.map(id => begin(id) + length(id)));
  const moveTo = (id: string, to: number): [string, Position] => {
    const position: Position = [...nodes[id].position];
    position[axis] = Math.round(to);
    return [id, position];
  };
  if (how === 'spread-across' || how === 'spread-down') {
    const middle = (id: string) => begin(id) + length(id) / 2;
    const order = ids.sort((a, b) => middle(a) - middle(b));
    const free = last - first - order.reduce((sum, id) => sum + length(id), 0);
    let at = first;
    return Object.fromEntries(
      order.map(id => {
        const entry = moveTo(id, at);
        at += length(id) + free / Math.max(1, order.length - 1);
        return entry;
      })
    );
  }
  const share =
    { left: 0, top: 0, center: 0.5, middle: 0.5 }[how as string] ?? 1;
  return Object.fromEntries(
    ids.map(id => moveTo(id, first + (last - first - length(id)) * share))
  );
}
