// An edge between two nodes.
import { BaseEdge, EdgeProps } from '@xyflow/react';
import { memo } from 'react';

import { edgePath } from './edge-path';
import { LayerFlowEdge } from './react-flow';

export const DataEdge = memo(function DataEdge(
  props: EdgeProps<LayerFlowEdge>
) {
  return (
    <BaseEdge id={props.id} path={edgePath(props)} interactionWidth={18} />
  );
});
