// Path of an edge: a curve, routed around the nodes in between if the edge skips some.
import { getBezierPath, Position as Side } from '@xyflow/react';

import { EDGE, NODE_SIZE } from '../../api/drawing';

export interface Ends {
  sourceX: number;
  sourceY: number;
  targetX: number;
  targetY: number;
  sourcePosition: Side;
  targetPosition: Side;
}

export function edgePath(ends: Ends): string {
  const { sourceX, sourceY, targetX, targetY } = ends;
  const down = ends.sourcePosition === Side.Bottom;
  const along = down ? targetY - sourceY : targetX - sourceX;
  const across = Math.abs(down ? targetX - sourceX : targetY - sourceY);
  const length = down ? NODE_SIZE.height : NODE_SIZE.width;
  const width = down ? NODE_SIZE.width : NODE_SIZE.height;
  const isSkip = along > length * EDGE.long && across < width * EDGE.near;
  return isSkip ? around(ends, down, along, width) : getBezierPath(ends)[0];
}

/** Path along a lane beside the nodes; longer skips use outer lanes. */
function around(
  ends: Ends,
  down: boolean,
  along: number,
  width: number
): string {
  const { turn } = EDGE;
  const outward = Math.min(EDGE.farthest, along / EDGE.outward);
  const lane = width / 2 + EDGE.lane + outward;
  const point = (a: number, b: number) => (down ? `${b},${a}` : `${a},${b}`);
  const [a0, b0, a1, b1] = down
    ? [ends.sourceY, ends.sourceX, ends.targetY, ends.targetX]
    : [ends.sourceX, ends.sourceY, ends.targetX, ends.targetY];
  const side = Math.max(b0, b1) + lane;
  return [
    `M${point(a0, b0)}`,
    `C${point(a0 + turn, b0)} ${point(a0 + 4, side)} ${point(a0 + turn * 1.5, side)}`,
    `L${point(a1 - turn * 1.5, side)}`,
    `C${point(a1 - 4, side)} ${point(a1 - turn, b1)} ${point(a1, b1)}`
  ].join(' ');
}
