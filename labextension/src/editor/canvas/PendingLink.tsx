// Line from a port to the quick menu while a link waits for a layer.
import { ViewportPortal } from '@xyflow/react';

import { edgePath } from './edge-path';
import { SIDES } from './handles';
import { Spot } from '../model/insertion';
import { Direction } from './node-size';
import { Position } from '../model/graph-data';

interface PendingLinkProps {
  from: Position;
  to: Position;
  spot: Spot;
  direction: Direction;
}

export function PendingLink({ from, to, spot, direction }: PendingLinkProps) {
  const [source, target] = 'before' in spot ? [to, from] : [from, to];
  const path = edgePath({
    sourceX: source[0],
    sourceY: source[1],
    targetX: target[0],
    targetY: target[1],
    sourcePosition: SIDES[direction].out,
    targetPosition: SIDES[direction].in
  });
  return (
    <ViewportPortal>
      <svg className="labdl-open-link" aria-hidden="true">
        <path d={path} />
      </svg>
    </ViewportPortal>
  );
}
