// The line from a port to the menu that asks what to connect it with.
import { ViewportPortal } from '@xyflow/react';

import { edgePath } from './edgePath';
import { SIDES } from './handles';
import { Spot } from './insertion';
import { Direction } from './layout';
import { Position } from './model';

interface OpenLinkProps {
  from: Position;
  to: Position;
  spot: Spot;
  direction: Direction;
}

export function OpenLink({ from, to, spot, direction }: OpenLinkProps) {
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
