// Layers dropped from the palette: onto the canvas, or into the edge under the pointer.
import { useReactFlow } from '@xyflow/react';
import { DragEvent, useState } from 'react';

import { EditorActions } from './actions';
import { droppedLayer, isInnerLayer, isLayer } from './dragged';

interface Drop {
  /** The edge that would take the layer, were it dropped now. */
  edge: string | null;
  handlers: { [name: string]: (event: DragEvent<HTMLElement>) => void };
}

export function useDrop(actions: EditorActions): Drop {
  const flow = useReactFlow();
  const [edge, setEdge] = useState<string | null>(null);
  const handlers = {
    onDragOver(event: DragEvent) {
      if (isLayer(event.dataTransfer)) {
        event.preventDefault();
        event.dataTransfer.dropEffect = 'copy';
        setEdge(isInnerLayer(event.dataTransfer) ? edgeUnder(event) : null);
      }
    },
    onDragLeave(event: DragEvent) {
      const next = event.relatedTarget;
      if (!(next instanceof Node && event.currentTarget.contains(next))) {
        setEdge(null);
      }
    },
    onDrop(event: DragEvent) {
      setEdge(null);
      const type = droppedLayer(event.dataTransfer);
      if (!type) {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      const { x, y } = flow.screenToFlowPosition({
        x: event.clientX,
        y: event.clientY
      });
      const under = edgeUnder(event);
      actions.addLayerAt(type, [x, y], under ? { edge: under } : undefined);
      actions.focus();
    }
  };
  return { edge, handlers };
}

function edgeUnder(event: DragEvent): string | null {
  const target = event.target instanceof Element ? event.target : null;
  const edge = target?.closest<SVGElement>('.react-flow__edge');
  return edge?.dataset.id ?? null;
}
