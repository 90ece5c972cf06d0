// Fits the graph, or the entered block, into the view once both it and the canvas are measured, and again when the canvas
// changes its size, unless a person has moved the view.
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
      const isOwn = own.current && sameView(own.current, flow.getViewport());
      if (isOwn && width && height && !showsAll(flow, { width, height })) {
        void fit({ width, height });
      }
    }, REST);
    return () => clearTimeout(timer);
  }, [fit, flow, height, width]);

  return isInView;
}

const sameView = (one: Viewport, other: Viewport): boolean =>
  one.x === other.x && one.y === other.y && one.zoom === other.zoom;

/** Whether the whole graph is in view, as large as it may be. */
function showsAll(flow: Flow, canvas: Size): boolean {
  const bounds = flow.getNodesBounds(flow.getNodes());
  const { x, y, zoom } = flow.getViewport();
  return (
    zoom >= FIT.maxZoom &&
    bounds.x * zoom + x >= 0 &&
    bounds.y * zoom + y >= 0 &&
    (bounds.x + bounds.width) * zoom + x <= canvas.width &&
    (bounds.y + bounds.height) * zoom + y <= canvas.height
  );
}
