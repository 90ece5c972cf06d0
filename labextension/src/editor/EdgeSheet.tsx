// The line of `edgeLines`, behind the nodes.
import { ViewportPortal } from '@xyflow/react';
import { memo, useState } from 'react';

import { EdgeLines } from './edgeLines';
import { LayerFlowEdge, LayerFlowNode } from './flow';

interface EdgeSheetProps {
  nodes: LayerFlowNode[];
  edges: LayerFlowEdge[];
}

export const EdgeSheet = memo(function EdgeSheet(props: EdgeSheetProps) {
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
