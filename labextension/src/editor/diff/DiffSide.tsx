// One of two compared models: a read-only canvas whose viewport follows the other one.
import {
  ReactFlowInstance,
  useNodesInitialized,
  useOnViewportChange,
  useReactFlow,
  useStoreApi
} from '@xyflow/react';
import {
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
  useSyncExternalStore
} from 'react';
import * as Y from 'yjs';

import { useEditorContext } from '../context';
import { DiffHost, DiffSideName } from './diff-data';
import { Marks } from './diff-changes';
import { DIFF_EDGES, DIFF_NODES, DiffMarks } from './DiffNode';
import { GraphDocument } from '../model/document';
import { Editor } from '../Editor';
import { Size } from '../canvas/node-size';
import { Costs, GraphData } from '../model/graph-data';
import { SelectionStore } from '../model/selection';
import { Translator } from '../../ui/translator';

/** Access to the viewport of one side. */
export interface SideView {
  flow: ReactFlowInstance;
  size(): Size;
}

export interface DiffSideProps {
  side: DiffSideName;
  title: string;
  caption: string;
  /** Graph with positions. */
  graph: GraphData;
  marks: Marks;
  host: DiffHost;
  trans: Translator;
  selection: SelectionStore;
  toggle: (path: string) => void;
  onView: (side: DiffSideName, view: SideView | null) => void;
  onMove: (side: DiffSideName) => void;
  onTotal: (side: DiffSideName, total: Costs | null) => void;
}

export function DiffSide(props: DiffSideProps) {
  const { side, title, caption, graph, marks, host, trans } = props;
  const { selection, toggle, onView, onMove, onTotal } = props;
  const [document] = useState(() => {
    const made = new GraphDocument(new Y.Doc());
    made.load(graph);
    made.lock.setReason('diff', trans.__('Models are compared here.'));
    return made;
  });
  useLayoutEffect(() => document.load(graph), [document, graph]);
  useEffect(
    () => () => {
      document.dispose();
      document.ydoc.destroy();
    },
    [document]
  );
  const only = useMemo(
    () => ({
      nodeTypes: DIFF_NODES,
      edgeTypes: DIFF_EDGES,
      selection,
      toggle,
      children: (
        <Follower
          side={side}
          onView={onView}
          onMove={onMove}
          onTotal={onTotal}
        />
      )
    }),
    [selection, toggle, side, onView, onMove, onTotal]
  );
  const word = side === 'old' ? trans.__('Before') : trans.__('After');
  return (
    <section
      className={`labdl-diff-side labdl-diff-${side}`}
      aria-label={trans.__('%1: %2', word, title)}
    >
      <h3 title={caption}>
        <span>{word}</span> {title}
      </h3>
      <DiffMarks.Provider value={marks}>
        <Editor document={document} host={host} trans={trans} only={only} />
      </DiffMarks.Provider>
    </section>
  );
}

/** Reports the viewport and the costs; inside the canvas, where its context is available. */
function Follower({
  side,
  onView,
  onMove,
  onTotal
}: Pick<DiffSideProps, 'side' | 'onView' | 'onMove' | 'onTotal'>) {
  const flow = useReactFlow();
  const store = useStoreApi();
  const isMeasured = useNodesInitialized();
  const { checks } = useEditorContext();
  const { total } = useSyncExternalStore(checks.subscribe, checks.state);
  useEffect(() => onTotal(side, total), [side, total, onTotal]);
  useOnViewportChange({ onChange: () => onMove(side) });
  useEffect(() => {
    if (!isMeasured) {
      return;
    }
    const size = () => {
      const { width, height } = store.getState();
      return { width, height };
    };
    // wait until the canvas has set its initial viewport
    const timer = setTimeout(() => onView(side, { flow, size }));
    return () => {
      clearTimeout(timer);
      onView(side, null);
    };
  }, [isMeasured, side, flow, store, onView]);
  return null;
}
