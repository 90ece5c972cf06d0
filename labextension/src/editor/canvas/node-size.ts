// Size of nodes and ports, and the direction of edges.
import { NODE_SIZE, PORT_NAMES } from '../../api/drawing';
import { Ports } from '../model/connect';

export type Direction = 'down' | 'right';

export interface Size {
  width: number;
  height: number;
}

export { NODE_SIZE };

/** Expected size of a node; names of several ports on one side need an additional line. */
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
