// Two models side by side with marked differences and a list of them.
import {
  KeyboardEvent,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState
} from 'react';

import { Button } from '../../ui/Button';
import { DiffHost, Difference, DiffSideName, SIDES_OF_DIFF } from './diff-data';
import { changesOf, marksOf } from './diff-changes';
import { DiffLayout } from './diff-layout';
import { DiffList } from './DiffList';
import { followSelection } from './diff-selection';
import { DiffSide } from './DiffSide';
import { Costs, GraphData, LayerTable } from '../model/graph-data';
import { SelectionStore } from '../model/selection';
import { Translator } from '../../ui/translator';
import { useDifference } from './useDifference';
import { useDiffLayout } from './useDiffLayout';
import { useLayers } from '../palette/useLayers';
import { useSyncedViews } from './useSyncedViews';

export interface ComparedModel {
  title: string;
  /** Full origin of the model. */
  caption: string;
  graph: GraphData;
}

export interface DiffViewProps {
  old: ComparedModel;
  new: ComparedModel;
  host: DiffHost;
  trans: Translator;
  /** Moves the focus to the list once it is rendered. */
  takesFocus?: boolean;
}

export function DiffView(props: DiffViewProps) {
  const { host, trans } = props;
  const { layers, failure: missing, reload } = useLayers(host);
  const { difference, failure, again } = useDifference(
    host,
    props.old.graph,
    props.new.graph
  );
  const [unarranged, setUnarranged] = useState<string | null>(null);
  const problem = failure ?? missing ?? unarranged;
  return (
    <div className="labdl-editor labdl-diff">
      {problem !== null ? (
        <div className="labdl-diff-failure" role="alert">
          <p>{trans.__('The models could not be compared: %1', problem)}</p>
          <Button
            onClick={() => {
              setUnarranged(null);
              reload();
              again();
            }}
          >
            {trans.__('Try again')}
          </Button>
        </div>
      ) : difference && layers.size ? (
        <Comparison
          {...props}
          difference={difference}
          layers={layers}
          onFailure={setUnarranged}
        />
      ) : (
        <Progress trans={trans} />
      )}
    </div>
  );
}

function Progress({ trans }: { trans: Translator }) {
  return (
    <p className="labdl-diff-failure" role="status">
      {trans.__('Comparing…')}
    </p>
  );
}

interface ComparisonProps extends DiffViewProps {
  difference: Difference;
  layers: LayerTable;
  onFailure: (message: string) => void;
}

const NOTHING: { [side in DiffSideName]: Costs | null } = {
  old: null,
  new: null
};

function Comparison(props: ComparisonProps) {
  const { difference, layers, host, onFailure, trans } = props;
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback(
    (path: string) =>
      setToggled(paths => {
        const now = new Set(paths);
        return now.delete(path) ? now : now.add(path);
      }),
    []
  );
  const layout = useDiffLayout(
    host,
    props.old.graph,
    props.new.graph,
    difference,
    layers,
    toggled,
    onFailure
  );
  return layout ? (
    <SideBySide {...props} layout={layout} toggle={toggle} />
  ) : (
    <Progress trans={trans} />
  );
}

interface SideBySideProps extends DiffViewProps {
  difference: Difference;
  layout: DiffLayout;
  toggle: (path: string) => void;
}

function SideBySide(props: SideBySideProps) {
  const { difference, layout, toggle, host, trans } = props;
  const old = props.old.graph;
  const next = props.new.graph;
  const changes = useMemo(
    () => changesOf(old, next, difference, layout, trans),
    [old, next, difference, layout, trans]
  );
  const marks = useMemo(
    () => ({
      old: marksOf('old', old, next, difference, trans),
      new: marksOf('new', old, next, difference, trans)
    }),
    [old, next, difference, trans]
  );
  const [totals, setTotals] = useState(NOTHING);
  const onTotal = useCallback(
    (side: DiffSideName, total: Costs | null) =>
      setTotals(before => ({ ...before, [side]: total })),
    []
  );

  const first = changes.find(({ drawn }) => drawn !== null)?.drawn ?? null;
  const { onView, onMove, show } = useSyncedViews(layout, first);

  // --- selecting: on both sides, and from the list ---

  const [selections] = useState(() => ({
    old: new SelectionStore(),
    new: new SelectionStore()
  }));
  useEffect(
    () => followSelection(selections, difference),
    [selections, difference]
  );
  const [active, setActive] = useState(-1);
  useEffect(() => setActive(-1), [difference]);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const { activeElement } = document;
    if (props.takesFocus && activeElement?.contains(list.current)) {
      list.current?.focus({ preventScroll: true });
    }
  }, [difference, props.takesFocus]);
  const go = (index: number) => {
    setActive(index);
    const { drawn } = changes[index];
    if (drawn === null) {
      return;
    }
    const was = Object.keys(old.nodes).find(
      id => layout.union.idOf(id) === drawn
    );
    selections.old.set([was ?? drawn]);
    selections.new.set([drawn]);
    show(drawn);
  };
  const keyDown = (event: KeyboardEvent) => {
    if (event.key === 'F8' && changes.length) {
      const by = event.shiftKey ? -1 : 1;
      const from = Math.max(active, by < 0 ? 0 : -1);
      go((from + by + changes.length) % changes.length);
      event.preventDefault();
      event.stopPropagation();
    }
  };

  return (
    <div className="labdl-diff-panes" onKeyDownCapture={keyDown}>
      {SIDES_OF_DIFF.map(side => (
        <DiffSide
          key={side}
          side={side}
          title={props[side].title}
          caption={props[side].caption}
          graph={layout[side]}
          marks={marks[side]}
          host={host}
          trans={trans}
          selection={selections[side]}
          toggle={toggle}
          onView={onView}
          onMove={onMove}
          onTotal={onTotal}
        />
      ))}
      <DiffList
        changes={changes}
        active={active}
        totals={totals}
        trans={trans}
        list={list}
        onGo={go}
      />
    </div>
  );
}
