// Draws the paths of `EdgeLines` behind the nodes.
import { ViewportPortal } from '@xyflow/react';
import { memo, useState } from 'react';

import { EdgeLines } from './edge-overview';
import { LayerFlowEdge, LayerFlowNode } from './react-flow';

interface EdgeOverviewProps {
  nodes: LayerFlowNode[];
  edges: LayerFlowEdge[];
}

export const EdgeOverview = memo(function EdgeSheet(props: EdgeOverviewProps) {
  const [lines] = useState(() => new EdgeLines());
  const { still, moving } = lines.lines(props.nodes, props.edges);
  return (
    <ViewportPortal>
      <svg className="labdl-edge-sheet" aria-hidden="true">
        <path d={still} />
      </svg>
      <svg className="labdl-edge-sheet" aria-hidden="true">
        <path d={moving} />
      </svg>
    </ViewportPortal>
  );
});
