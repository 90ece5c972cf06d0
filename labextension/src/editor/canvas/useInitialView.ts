// Fits the graph, or the entered block, into the view once both it and the canvas are measured.
import { useNodesInitialized, useReactFlow, useStore } from '@xyflow/react';
import { useEffect, useRef } from 'react';

import { LayerFlowEdge, LayerFlowNode } from './react-flow';
import { fitInitialView, READABLE } from './initial-view';

export function useInitialView(nodes: LayerFlowNode[], within: string): void {
  const flow = useReactFlow<LayerFlowNode, LayerFlowEdge>();
  const isMeasured = useNodesInitialized();
  const width = useStore(state => state.width);
  const height = useStore(state => state.height);
  const isOpen = useRef(false);
  const shown = useRef(within);

  useEffect(() => {
    if (shown.current !== within) {
      shown.current = within;
      isOpen.current = false;
      // This render still has the nodes of the previous scene.
      return;
    }
    if (nodes.length === 0) {
      isOpen.current = false;
      return;
    }
    // A hidden tab has no size yet.
    if (isOpen.current || !isMeasured || width === 0 || height === 0) {
      return;
    }
    isOpen.current = true;
    // A first layer that was just added stays where it was placed.
    if (nodes.length > 1 || !nodes[0].selected) {
      fitInitialView(flow, { width, height }, READABLE);
    }
  }, [flow, height, isMeasured, nodes, width, within]);
}
