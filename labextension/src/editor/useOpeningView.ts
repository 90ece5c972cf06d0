// What is in view when a graph opens: all of it if that is readable, else where it begins.
import { useNodesInitialized, useReactFlow, useStore } from '@xyflow/react';
import { useEffect, useRef } from 'react';

import { LayerFlowNode } from './flow';
import { Position as Side } from '@xyflow/react';

export const FIT = { padding: 0.12, maxZoom: 1 };

/** Below this zoom the text on the nodes cannot be read. */
const READABLE = 0.45;
const START_ZOOM = 0.75;

export function useOpeningView(nodes: LayerFlowNode[]): void {
  const flow = useReactFlow();
  const isMeasured = useNodesInitialized();
  const width = useStore(state => state.width);
  const height = useStore(state => state.height);
  const isOpen = useRef(false);
  const wasEmpty = useRef(false);

  useEffect(() => {
    if (nodes.length === 0) {
      isOpen.current = false;
      wasEmpty.current = true;
      return;
    }
    // A hidden tab has no size yet.
    if (isOpen.current || !isMeasured || width === 0 || height === 0) {
      return;
    }
    isOpen.current = true;
    if (wasEmpty.current && nodes.length === 1) {
      return; // the first layer was just put where the person wants it
    }
    const bounds = flow.getNodesBounds(nodes.map(node => node.id));
    const zoom = Math.min(width / bounds.width, height / bounds.height);
    if (zoom > READABLE) {
      void flow.fitView(FIT);
      return;
    }
    const isDown = nodes[0].sourcePosition === Side.Bottom;
    const along = (node: LayerFlowNode) =>
      isDown ? node.position.y : node.position.x;
    const first = nodes.reduce((a, b) => (along(b) < along(a) ? b : a));
    const { x, y } = first.position;
    const size = {
      width: first.measured?.width ?? 0,
      height: first.measured?.height ?? 0
    };
    void flow.setViewport({
      zoom: START_ZOOM,
      x: isDown
        ? width / 2 - (x + size.width / 2) * START_ZOOM
        : 40 - x * START_ZOOM,
      y: isDown
        ? 64 - y * START_ZOOM
        : height / 2 - (y + size.height / 2) * START_ZOOM
    });
  }, [flow, height, isMeasured, nodes, width]);
}
