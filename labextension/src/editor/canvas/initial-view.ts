// Initial viewport: the whole graph if it is readable, else its start.
import { Position as Side, ReactFlowInstance } from '@xyflow/react';

import { LayerFlowEdge, LayerFlowNode } from './react-flow';
import { NODE_SIZE, Size } from './node-size';

export const FIT = { padding: 0.12, maxZoom: 1 };

/** Zoom below which text on nodes is not readable. */
export const READABLE = 0.45;
/** Zoom below which the structure of the graph is not visible. */
export const VISIBLE = 0.12;

const START_ZOOM = 0.75;
const MARGIN = 64;

export type Flow = ReactFlowInstance<LayerFlowNode, LayerFlowEdge>;

export function fitInitialView(
  flow: Flow,
  canvas: Size,
  leastZoom: number
): Promise<boolean> {
  const nodes = flow.getNodes();
  const bounds = flow.getNodesBounds(nodes);
  const zoom = Math.min(
    canvas.width / bounds.width,
    canvas.height / bounds.height
  );
  if (zoom > leastZoom || nodes.length === 0) {
    return flow.fitView(FIT);
  }
  const isDown = nodes[0].sourcePosition === Side.Bottom;
  const along = ({ position }: LayerFlowNode) =>
    isDown ? position.y : position.x;
  const first = nodes.reduce((a, b) => (along(b) < along(a) ? b : a));
  const { x, y } = first.position;
  const middle = (length: number, at: number, size: number) =>
    length / 2 - (at + size / 2) * START_ZOOM;
  return flow.setViewport({
    zoom: START_ZOOM,
    x: isDown
      ? middle(canvas.width, x, NODE_SIZE.width)
      : MARGIN - x * START_ZOOM,
    y: isDown
      ? MARGIN - y * START_ZOOM
      : middle(canvas.height, y, NODE_SIZE.height)
  });
}
