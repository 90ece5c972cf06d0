// Canvas: React Flow draws the graph, gestures change the document.
import {
  Background,
  Controls,
  EdgeChange,
  NodeChange,
  ReactFlow,
  SelectionMode,
  applyNodeChanges,
  useKeyPress,
  useStore
} from '@xyflow/react';
import {
  KeyboardEvent,
  ReactNode,
  RefObject,
  memo,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore
} from 'react';

import { EditorActions } from '../commands/actions';
import { useEditorContext } from '../context';
import { BlockFrames } from '../blocks/BlockFrames';
import { BlockNode } from '../blocks/BlockNode';
import { CanvasOnly } from './canvas-only';
import { DataEdge } from './DataEdge';
import { GraphDocument } from '../model/document';
import { EdgeOverview } from './EdgeOverview';
import { FAR } from './edge-overview';
import { useFaultEdges } from '../health/fault-edges';
import {
  flowEdges,
  flowNodes,
  isLarge,
  LayerFlowEdge,
  LayerFlowNode,
  View,
  withoutEstimates
} from './react-flow';
import { isTyping } from '../../ui/host-keys';
import { runKey } from '../commands/key-bindings';
import { LayerNode } from './LayerNode';
import { Overview } from './Overview';
import { Position } from '../model/graph-data';
import { NoteNode } from '../notes/NoteNode';
import { NoteEditing } from '../notes/note-editing';
import { CanvasNode, useNotes } from '../notes/react-flow-notes';
import { SelectionStore } from '../model/selection';
import { useConnecting } from './useConnecting';
import { useEndedDrags } from './useEndedDrags';
import { useDrop } from './useDrop';
import { useLock } from '../model/useLock';
import { useInitialView } from './useInitialView';

const NODE_TYPES = { layer: LayerNode, block: BlockNode, note: NoteNode };
const EDGE_TYPES = { data: DataEdge };
const GRID: [number, number] = [20, 20];
/** A click with one of these adds a node to the selection or removes it. */
const TOGGLE_KEYS = ['Shift', 'Control', 'Meta'];

export interface CanvasProps {
  document: GraphDocument;
  selection: SelectionStore;
  pad: NoteEditing;
  view: View;
  actions: EditorActions;
  snapToGrid: boolean;
  hasOverview: boolean;
  element: RefObject<HTMLDivElement | null>;
  say: (notice: string) => void;
  onRename: () => void;
  only?: CanvasOnly;
  /** Whether the editor carries out its keys itself. */
  runsKeys: boolean;
  children?: ReactNode;
}

export const Canvas = memo(function Canvas(props: CanvasProps) {
  const { document, selection, pad, view, actions, say } = props;
  const { checks, trans } = useEditorContext();
  const [isActive, setActive] = useState(false);
  const isLocked = useLock(document) !== null;

  // --- nodes and edges ---

  const [nodes, setNodes] = useState(() => flowNodes(view, new Map()));
  useLayoutEffect(
    () => setNodes(old => flowNodes(view, new Map(old.map(n => [n.id, n])))),
    [view]
  );

  const own = props.only?.nodeTypes;
  const nodeTypes = useMemo(() => ({ ...NODE_TYPES, ...own }), [own]);
  const notes = useNotes(view, pad, trans);
  const { change: changeNotes } = notes;
  const drawn = useMemo(() => [...nodes, ...notes.nodes], [nodes, notes.nodes]);

  const drop = useDrop(actions);
  const { problems } = useSyncExternalStore(checks.subscribe, checks.state);
  const faulty = useFaultEdges(view.graph);
  const oldEdges = useRef(new Map<string, LayerFlowEdge>());
  const edgeTable = view.graph.edges;
  const selectedEdges = view.selected.edges;
  const edges = useMemo(() => {
    const broken = new Set(problems.flatMap(problem => problem.edge ?? []));
    const { current } = oldEdges;
    const next = flowEdges(
      edgeTable,
      selectedEdges,
      { broken, faulty, dropOn: drop.edge },
      current
    );
    oldEdges.current = new Map(next.map(edge => [edge.id, edge]));
    return next;
  }, [edgeTable, selectedEdges, problems, drop.edge, faulty]);

  // React Flow redraws every edge when a node moves, so large graphs use a single path when zoomed out.
  const isFar = useStore(state => state.transform[2] < FAR);
  const isSheet = isFar && isLarge(view.graph);
  const single = useMemo(
    () =>
      isSheet ? edges.filter(edge => edge.selected || edge.className) : edges,
    [edges, isSheet]
  );

  const isInView = useInitialView(nodes, view.scene.within);

  const labels = useMemo(
    () => ({
      'controls.ariaLabel': trans.__('View'),
      'controls.zoomIn.ariaLabel': trans.__('Zoom in'),
      'controls.zoomOut.ariaLabel': trans.__('Zoom out'),
      'controls.fitView.ariaLabel': trans.__('Fit the model into view'),
      'node.a11yDescription.default': trans.__(
        'Press Enter to select the layer, arrow keys to move it, Delete to remove it.'
      ),
      'edge.a11yDescription.default': trans.__(
        'Press Enter to select the connection, Delete to remove it.'
      )
    }),
    [trans]
  );

  // --- moving and selecting ---

  const isDragging = useRef(false);
  useEndedDrags(isDragging);
  // React Flow's own key for an area would also take the clicks on nodes.
  const isArea = useKeyPress('Shift');
  const latest = useRef(view);
  useEffect(() => {
    latest.current = view;
  }, [view]);

  const moveTo = useCallback(
    (moved: { [id: string]: Position }, typing?: string) => {
      const { places, scene } = latest.current;
      // Nodes without a position keep the one they are drawn at.
      const all = Object.entries({ ...places, ...moved });
      document.move(
        Object.fromEntries(all.filter(([id]) => !scene.outside.has(id))),
        typing
      );
    },
    [document]
  );
  const showAt = useCallback(
    (moved: { [id: string]: Position }) => {
      changeNotes(
        Object.entries(moved).map(([id, [x, y]]) => ({
          type: 'position',
          id,
          position: { x, y }
        }))
      );
      setNodes(old =>
        old.map(node => {
          const at = moved[node.id];
          return at ? { ...node, position: { x: at[0], y: at[1] } } : node;
        })
      );
    },
    [changeNotes]
  );

  const onNodesChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      changeNotes(changes);
      const selected = new Map<string, boolean>();
      const measured = new Set<string>();
      const moved: { [id: string]: Position } = {};
      for (const change of changes) {
        if (change.type === 'select') {
          selected.set(change.id, change.selected);
        } else if (change.type === 'dimensions') {
          measured.add(change.id);
        } else if (
          change.type === 'position' &&
          !change.dragging &&
          pad.resizing !== change.id &&
          change.position
        ) {
          const { x, y } = change.position;
          moved[change.id] = [Math.round(x), Math.round(y)];
        }
      }
      setNodes(old => {
        const own = changes as NodeChange<LayerFlowNode>[];
        const next = applyNodeChanges(own, old);
        return measured.size ? withoutEstimates(next, measured) : next;
      });
      if (selected.size) {
        selection.change('nodes', selected);
      }
      if (Object.keys(moved).length) {
        moveTo(moved, isDragging.current ? undefined : 'arrow keys');
      }
    },
    [moveTo, selection, changeNotes, pad]
  );

  const onEdgesChange = useCallback(
    (changes: EdgeChange<LayerFlowEdge>[]) => {
      const selected = new Map<string, boolean>();
      for (const change of changes) {
        if (change.type === 'select') {
          selected.set(change.id, change.selected);
        }
      }
      if (selected.size) {
        selection.change('edges', selected);
      }
    },
    [selection]
  );

  const startDrag = useCallback(() => {
    isDragging.current = true;
  }, []);
  const endDrag = useCallback(() => {
    isDragging.current = false;
  }, []);

  const connecting = useConnecting({ document, latest, actions, say });

  const keyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !isTyping(event.target)) {
      // React Flow takes the focus away from a node in the next frame, and no key would reach the canvas any more
      requestAnimationFrame(() => {
        if (window.document.activeElement === window.document.body) {
          actions.focus();
        }
      });
    }
    const isTaken =
      !isTyping(event.target) &&
      (notes.keyDown(event) || (props.runsKeys && runKey(event, actions)));
    if (isTaken) {
      event.preventDefault();
      event.stopPropagation();
    }
  };

  return (
    <div
      ref={props.element as RefObject<HTMLDivElement>}
      className={[
        'labdl-canvas',
        isSheet ? 'labdl-mod-far' : '',
        isInView ? '' : 'labdl-mod-opening'
      ].join(' ')}
      tabIndex={0}
      role="application"
      aria-label={trans.__('Graph of the model')}
      onKeyDown={keyDown}
      onFocus={() => setActive(true)}
      onBlur={() => setActive(false)}
      onPointerDownCapture={event => {
        if (!isTyping(event.target)) {
          actions.focus();
        }
      }}
      {...drop.handlers}
    >
      <ReactFlow
        nodes={drawn}
        edges={single}
        nodeTypes={nodeTypes}
        edgeTypes={props.only?.edgeTypes ?? EDGE_TYPES}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onNodeDragStart={startDrag}
        onNodeDragStop={endDrag}
        onSelectionDragStart={startDrag}
        onSelectionDragStop={endDrag}
        onNodeClick={(event, { id }) => {
          const isToggled = event.shiftKey || event.ctrlKey || event.metaKey;
          if (!isToggled) {
            selection.set([id]); // React Flow leaves several selected
          }
        }}
        onNodeDoubleClick={(_, { id, data, type }) => {
          if (type === 'note') {
            pad.write(id);
          } else if (data.block) {
            actions.enter(data.block.path);
          } else if (!view.scene.outside.has(id)) {
            props.onRename();
          }
        }}
        // The host's context menu applies to the selection.
        onNodeContextMenu={(_, { id }) => {
          if (!selection.state().nodes.has(id)) {
            selection.set([id]);
          }
        }}
        onEdgeContextMenu={(_, { id }) => {
          if (!selection.state().edges.has(id)) {
            selection.set([], [id]);
          }
        }}
        {...connecting}
        nodesDraggable={!isLocked}
        snapToGrid={props.snapToGrid}
        snapGrid={GRID}
        nodesConnectable={!isLocked}
        edgesReconnectable={!isLocked}
        onlyRenderVisibleElements={isLarge(view.graph)}
        // The canvas has its own key bindings; the space key belongs to the page.
        deleteKeyCode={null}
        selectionKeyCode={null}
        multiSelectionKeyCode={TOGGLE_KEYS}
        selectionOnDrag={isArea}
        panOnDrag={!isArea}
        panActivationKeyCode={null}
        zoomOnDoubleClick={false}
        // The page scrolls past an editor that does not have the focus.
        zoomOnScroll={isActive}
        preventScrolling={isActive}
        selectionMode={SelectionMode.Partial}
        connectionRadius={28}
        minZoom={0.02}
        maxZoom={2}
        elevateEdgesOnSelect
        ariaLabelConfig={labels}
      >
        <Background gap={GRID} />
        {isSheet && <EdgeOverview nodes={nodes} edges={edges} />}
        <BlockFrames
          nodes={nodes}
          notes={notes.nodes}
          view={view}
          actions={actions}
          onDrag={showAt}
          onDrop={moveTo}
        />
        <Controls showInteractive={false} onFitView={actions.fit} />
        {props.hasOverview && <Overview nodes={drawn} />}
        {props.children}
      </ReactFlow>
    </div>
  );
});
