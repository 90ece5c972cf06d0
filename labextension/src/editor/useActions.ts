// Connects the actions with their canvas; the returned object is stable.
import { useReactFlow, useStoreApi } from '@xyflow/react';
import { RefObject, useLayoutEffect, useRef, useState } from 'react';

import { EditorActions, makeActions, Surroundings } from './commands/actions';
import { LayerFlowEdge, LayerFlowNode } from './canvas/react-flow';
import { NODE_SIZE } from './canvas/node-size';
import { Position } from './model/graph-data';
import { FIT, fitInitialView, VISIBLE } from './canvas/initial-view';
import { usePointer } from './canvas/pointer';
import { Scene } from './canvas/scene';

type CanvasAccess =
  | 'scene'
  | 'sizeOf'
  | 'middle'
  | 'pointer'
  | 'at'
  | 'isVisible'
  | 'fit'
  | 'openAgain'
  | 'show'
  | 'zoomIn'
  | 'zoomOut'
  | 'focus';

export interface ActionProps extends Omit<Surroundings, CanvasAccess> {
  canvas: RefObject<HTMLDivElement | null>;
  sceneNow(): Scene;
}

const MOTION = { duration: 200 };

export function useActions(props: ActionProps): EditorActions {
  const flow = useReactFlow<LayerFlowNode, LayerFlowEdge>();
  const store = useStoreApi();
  const pointer = usePointer(props.canvas);

  /** Position in the graph for a point given as fractions of the canvas. */
  const pointAt = (across: number, down: number): Position => {
    const { width, height, transform } = store.getState();
    const [x, y, zoom] = transform;
    return [(width * across - x) / zoom, (height * down - y) / zoom];
  };

  const surroundings: Surroundings = {
    ...props,
    get scene() {
      return props.sceneNow();
    },
    sizeOf(id) {
      const measured = flow.getNode(id)?.measured;
      return {
        width: measured?.width ?? NODE_SIZE.width,
        height: measured?.height ?? NODE_SIZE.height
      };
    },
    middle: () => pointAt(0.5, 0.5),
    pointer() {
      const point = pointer();
      return point && surroundings.at(point);
    },
    at(point) {
      const { x, y } = flow.screenToFlowPosition(point);
      return [x, y];
    },
    isVisible([x, y]) {
      const [left, top] = pointAt(0, 0);
      const [right, bottom] = pointAt(1, 1);
      return (
        x >= left &&
        y >= top &&
        x + NODE_SIZE.width <= right &&
        y + NODE_SIZE.height <= bottom
      );
    },
    fit: () => void flow.fitView({ ...FIT, ...MOTION }),
    // Wait until React has drawn the nodes at their new positions.
    openAgain: (leastZoom = VISIBLE) =>
      void requestAnimationFrame(
        () => void fitInitialView(flow, store.getState(), leastZoom)
      ),
    show: ids =>
      void flow.fitView({
        ...FIT,
        ...MOTION,
        nodes: ids.map(id => ({ id })),
        // keep the zoom if it is in a readable range
        minZoom: Math.min(flow.getZoom(), 1),
        maxZoom: Math.max(flow.getZoom(), 0.6)
      }),
    zoomIn: () => void flow.zoomIn(MOTION),
    zoomOut: () => void flow.zoomOut(MOTION),
    focus: () => props.canvas.current?.focus({ preventScroll: true })
  };

  const latest = useRef(surroundings);
  useLayoutEffect(() => {
    latest.current = surroundings;
  });
  const [actions] = useState(() => makeActions(() => latest.current));
  return actions;
}
