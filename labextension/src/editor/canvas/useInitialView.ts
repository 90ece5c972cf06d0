// Fits the graph, or the entered block, into the view once both it and the canvas are measured, and again when the canvas
// changes its size, unless a person has moved the view and sees some of the graph.
import {
  useNodesInitialized,
  useReactFlow,
  useStore,
  Viewport
} from '@xyflow/react';
import { useCallback, useEffect, useRef, useState } from 'react';

import { LayerFlowEdge, LayerFlowNode } from './react-flow';
import { FIT, fitInitialView, Flow, READABLE } from './initial-view';
import { Size } from './node-size';

/** Milliseconds without a change of the size before the graph is fitted again. */
const REST = 100;

/** Returns whether the graph is in its view: before that, its nodes are drawn where they do not stay. */
export function useInitialView(
  nodes: LayerFlowNode[],
  within: string
): boolean {
  const flow = useReactFlow<LayerFlowNode, LayerFlowEdge>();
  const isMeasured = useNodesInitialized();
  const width = useStore(state => state.width);
  const height = useStore(state => state.height);
  const isOpen = useRef(false);
  const [isInView, setInView] = useState(false);
  const shown = useRef(within);
  /** The view after the last fit. */
  const own = useRef<Viewport | null>(null);

  const fit = useCallback(
    async (canvas: Size) => {
      await fitInitialView(flow, canvas, READABLE);
      own.current = flow.getViewport();
    },
    [flow]
  );

  useEffect(() => {
    if (shown.current !== within) {
      shown.current = within;
      isOpen.current = false;
      own.current = null;
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
      void fit({ width, height }).then(() => setInView(true));
    } else {
      setInView(true);
    }
  }, [fit, height, isMeasured, nodes, width, within]);

  useEffect(() => {
    const timer = setTimeout(() => {
      if (!isOpen.current || !width || !height) {
        return;
      }
      const isOwn = own.current && sameView(own.current, flow.getViewport());
      const { any, all } = visibleParts(flow, { width, height });
      if (isOwn ? !all : !any) {
        void fit({ width, height });
      }
    }, REST);
    return () => clearTimeout(timer);
  }, [fit, flow, height, width]);

  return isInView;
}

const sameView = (one: Viewport, other: Viewport): boolean =>
  one.x === other.x && one.y === other.y && one.zoom === other.zoom;

/** Whether a layer is in view, and whether all are, as large as they may be. */
function visibleParts(
  flow: Flow,
  canvas: Size
): { any: boolean; all: boolean } {
  const nodes = flow.getNodes();
  const { x, y, zoom } = flow.getViewport();
  const frame = {
    x: -x / zoom,
    y: -y / zoom,
    width: canvas.width / zoom,
    height: canvas.height / zoom
  };
  const bounds = flow.getNodesBounds(nodes);
  return {
    any: nodes.some(node => flow.isNodeIntersecting(node, frame)),
    all:
      zoom >= FIT.maxZoom &&
      bounds.x >= frame.x &&
      bounds.y >= frame.y &&
      bounds.x + bounds.width <= frame.x + frame.width &&
      bounds.y + bounds.height <= frame.y + frame.height
  };
}
