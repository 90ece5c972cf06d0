// Estimated positions of a node's ports before they are measured.
import { NodeHandle, Position as Side } from '@xyflow/react';

import { Ports } from '../model/connect';
import { Direction, Size } from './node-size';

export const SIDES: { [key in Direction]: { in: Side; out: Side } } = {
  down: { in: Side.Top, out: Side.Bottom },
  right: { in: Side.Left, out: Side.Right }
};

/** Same sizes as in the style sheet. */
const PORT = 10;
const WIDE_PORT = 22;

/** Estimated ports; a large graph can be drawn without rendering all of its nodes first. */
export function estimatedHandles(
  ports: Ports,
  direction: Direction,
  size: Size
): NodeHandle[] {
  const isDown = direction === 'down';
  const [across, along] = isDown
    ? [size.width, size.height]
    : [size.height, size.width];
  const place = (
    type: 'source' | 'target',
    list: { name: string; variadic?: boolean }[]
  ) =>
    list.map(({ name, variadic }, index): NodeHandle => {
      const wide = variadic ? WIDE_PORT : PORT;
      const a = ((index + 0.5) / list.length) * across - wide / 2;
      const b = (type === 'source' ? along : 0) - PORT / 2;
      const side = SIDES[direction];
      return {
        id: name,
        type,
        position: type === 'source' ? side.out : side.in,
        ...(isDown
          ? { x: a, y: b, width: wide, height: PORT }
          : { x: b, y: a, width: PORT, height: wide })
      };
    });
  return [...place('target', ports.inputs), ...place('source', ports.outputs)];
}
