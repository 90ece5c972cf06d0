// The size of nodes on the canvas, and the direction in which edges lead.
import { NODE_SIZE, PORT_NAMES } from '../../api/drawing';
import { Ports } from '../model/connect';

export type Direction = 'down' | 'right';

export interface Size {
  width: number;
  height: number;
}

export { NODE_SIZE };

/** The size of a layer once it is drawn: the names of several ports on a side need a line. */
export function expectedSize(
  ports: Ports | undefined,
  direction: Direction
): Size {
  const { width, height } = NODE_SIZE;
  const room = (side: 'inputs' | 'outputs') =>
    (ports?.[side].length ?? 0) > 1 ? PORT_NAMES[side] : 0;
  return direction === 'down'
    ? { width, height: height + room('inputs') + room('outputs') }
    : NODE_SIZE;
}
