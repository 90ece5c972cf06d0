// Drops onto the canvas: layers from the palette, also into the edge under the pointer, and Python source.
import { useReactFlow } from '@xyflow/react';
import { DragEvent, useState } from 'react';

import { EditorActions } from '../commands/actions';
import { useEditorContext } from '../context';
import {
  readDroppedLayer,
  readDroppedSource,
  isInnerLayer,
  isLayer,
  isSource
} from './drag-data';
import { isTyping } from '../../ui/host-keys';

interface Drop {
  /** The edge that a drop would insert the layer into. */
  edge: string | null;
  handlers: { [name: string]: (event: DragEvent<HTMLElement>) => void };
}

export function useDrop(actions: EditorActions): Drop {
  const flow = useReactFlow();
  const { trans } = useEditorContext();
  const [edge, setEdge] = useState<string | null>(null);
  const dropSource = async ({ dataTransfer, clientX, clientY }: DragEvent) => {
    const source = await readDroppedSource(dataTransfer);
    if (source === null) {
      actions.say(trans.__('Only Python files can be dropped here.'));
      return;
    }
    await actions.addSource(source, { x: clientX, y: clientY });
    actions.focus();
  };
  const handlers = {
    onDragOver(event: DragEvent) {
      if (isLayer(event.dataTransfer)) {
        event.preventDefault();
        event.dataTransfer.dropEffect = 'copy';
        setEdge(isInnerLayer(event.dataTransfer) ? edgeUnder(event) : null);
      } else if (isSource(event.dataTransfer) && !isTyping(event.target)) {
        event.preventDefault();
        event.dataTransfer.dropEffect = 'copy';
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
      const type = readDroppedLayer(event.dataTransfer);
      if (!type) {
        if (isSource(event.dataTransfer) && !isTyping(event.target)) {
          event.preventDefault();
          event.stopPropagation();
          void dropSource(event);
        }
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
