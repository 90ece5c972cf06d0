// Links drawn with the pointer: validation, new edges, and the quick menu at a free end.
import {
  Connection,
  Edge,
  FinalConnectionState,
  useReactFlow
} from '@xyflow/react';
import { useCallback, useRef } from 'react';

import { EditorActions } from '../commands/actions';
import { refusal, edgesReplacedBy } from '../model/connect';
import { useEditorContext } from '../context';
import { GraphDocument } from '../model/document';
import { View } from './react-flow';
import { EdgeData } from '../model/graph-data';
import { edgesBehind } from './scene';

/** Shorter links, in pixels, count as accidental. */
const SLIP = 24;

export interface ConnectingProps {
  document: GraphDocument;
  latest: { readonly current: View };
  actions: EditorActions;
  say: (notice: string) => void;
}

export function useConnecting(props: ConnectingProps) {
  const { document, latest, actions, say } = props;
  const { trans } = useEditorContext();
  const flow = useReactFlow();
  const isReconnecting = useRef(false);

  const reason = useCallback(
    (edge: EdgeData) =>
      refusal(edge, latest.current.graph, latest.current.layers, trans),
    [latest, trans]
  );
  const isValidConnection = useCallback(
    (connection: Edge | Connection) => reason(edgeOf(connection)) === null,
    [reason]
  );
  const onConnect = useCallback(
    (connection: Connection, alsoReplaced: string[] = []) => {
      const { graph, layers, scene, whole } = latest.current;
      const edge = edgeOf(connection);
      if (reason(edge) === null) {
        const replaced = edgesReplacedBy(edge, graph, layers);
        document.addEdges(
          edgesBehind(edge, whole),
          [...replaced, ...alsoReplaced].flatMap(scene.edgesOf)
        );
      }
    },
    [document, latest, reason]
  );
  const onReconnect = useCallback(
    (old: Edge, next: Connection) => onConnect(next, [old.id]),
    [onConnect]
  );
  const onReconnectStart = useCallback(() => {
    isReconnecting.current = true;
  }, []);
  const onReconnectEnd = useCallback(() => {
    isReconnecting.current = false;
  }, []);

  const endInTheOpen = useCallback(
    (event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
      const { fromHandle, from } = state;
      const point = pointOf(event);
      // A reconnected edge that is dropped on the free canvas stays unchanged.
      if (!fromHandle || !from || isReconnecting.current || !isOpen(point)) {
        return;
      }
      const begin = flow.flowToScreenPosition(from);
      if (Math.hypot(point.x - begin.x, point.y - begin.y) < SLIP) {
        return;
      }
      const { x, y } = flow.screenToFlowPosition(point);
      const end = { node: fromHandle.nodeId, port: fromHandle.id ?? '' };
      actions.openMenu({
        at: [x, y],
        from: [from.x, from.y],
        spot: fromHandle.type === 'source' ? { after: end } : { before: end }
      });
    },
    [actions, flow]
  );
  const onConnectEnd = useCallback(
    (event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
      const { fromHandle, toHandle } = state;
      if (!toHandle) {
        endInTheOpen(event, state);
        return;
      }
      if (state.isValid !== false || !fromHandle) {
        return;
      }
      const [source, target] =
        fromHandle.type === 'source'
          ? [fromHandle, toHandle]
          : [toHandle, fromHandle];
      if (source.type === target.type) {
        say(trans.__('Connect an output with an input.'));
        return;
      }
      const edge = edgeOf({
        source: source.nodeId,
        sourceHandle: source.id ?? null,
        target: target.nodeId,
        targetHandle: target.id ?? null
      });
      say(reason(edge) ?? '');
    },
    [endInTheOpen, reason, say, trans]
  );

  return {
    isValidConnection,
    onConnect,
    onConnectEnd,
    onReconnect,
    onReconnectStart,
    onReconnectEnd
  };
}

function pointOf(event: MouseEvent | TouchEvent): { x: number; y: number } {
  const { clientX, clientY } =
    'changedTouches' in event ? event.changedTouches[0] : event;
  return { x: clientX, y: clientY };
}

/** Whether a point of the screen is free canvas, without a node or control. */
function isOpen({ x, y }: { x: number; y: number }): boolean {
  // The target of a touch event is where the touch started.
  const under = window.document.elementFromPoint(x, y);
  return Boolean(
    under?.closest('.react-flow__pane') && !under.closest('.react-flow__node')
  );
}

function edgeOf(connection: {
  source: string;
  sourceHandle?: string | null;
  target: string;
  targetHandle?: string | null;
}): EdgeData {
  return {
    source: connection.source,
    source_port: connection.sourceHandle ?? '',
    target: connection.target,
    target_port: connection.targetHandle ?? ''
  };
}
