// The size of nodes on the canvas, and the direction in which edges lead.
import { Ports } from '../model/connect';

export type Direction = 'down' | 'right';

export interface Size {
  width: number;
  height: number;
}

export const NODE_SIZE: Size = { width: 208, height: 58 };

/** The size of a layer once it is drawn: the names of several ports on a side need a line. */
export function expectedSize(
  ports: Ports | undefined,
  direction: Direction
): Size {
  const { width, height } = NODE_SIZE;
  const named = (side: readonly unknown[] = []) => Number(side.length > 1);
  return direction === 'down'
    ? {
        width,
        height: height + 12 * named(ports?.inputs) + 14 * named(ports?.outputs)
      }
    : NODE_SIZE;
}
