// State of the view of a folder's runs: filter, order, selection, and values derived from them.

import type { Table } from '@tanstack/react-table';
import { useMemo, useRef, useState } from 'react';
import type { Translator } from '../../ui/translator';
import { axisChoices, axisOf } from './axes';
import { isInside, NO_BRUSHES, type Brushes } from './brushing';
import { Looks, type Look } from './line-styles';
import { columnsOf, type RunColumn } from './columns';
import { matches, NO_FILTER, type Filter } from './filter-runs';
import { isBetterHigh } from './best-run';
import { raceLooks } from './race';
import type { Brief, Runs } from './runs-source';
import { mainFigure } from './settings';
import { useColumnChoice } from './useColumnChoice';
import { inOrder, useTable } from './useTable';

/** Numbers of runs that are compared while none is selected. */
export const COUNTS = [5, 10, 20] as const;
/** Maximum number of runs whose curves are drawn. */
export const DRAWN = 20;
const ACTIVE: readonly Brief['status'][] = ['running', 'paused', 'stopping'];

export interface RunsViewState {
  filter: Filter;
  setFilter: (filter: Filter) => void;
  groupBy: string | null;
  setGroupBy: (by: string | null) => void;
  brushes: Brushes;
  setBrushes: (brushes: Brushes) => void;
  hovered: string | null;
  setHovered: (path: string | null) => void;
  columns: readonly RunColumn[];
  shownColumns: readonly RunColumn[];
  toggleColumn: (column: RunColumn) => void;
  table: Table<Brief>;
  /** Runs that match the words and facets. */
  filtered: readonly Brief[];
  /** Those of them inside all ranges that are selected on axes. */
  inside: readonly Brief[];
  showsConstant: boolean;
  toggleConstant: () => void;
  /** Number of runs that are compared by default; null if the person has selected them. */
  count: number | null;
  setCount: (count: number) => void;
  selected: ReadonlySet<string>;
  select: (paths: ReadonlySet<string>) => void;
  /** Runs that are compared, in the order of the table. */
  compared: readonly Brief[];
  drawn: readonly Brief[];
  looks: ReadonlyMap<string, Look>;
}

export function useRunsView(
  { runs, group }: Runs,
  trans: Translator
): RunsViewState {
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const [groupBy, setGroupBy] = useState<string | null>(null);
  const [brushes, setBrushes] = useState<Brushes>(NO_BRUSHES);
  const [hovered, setHovered] = useState<string | null>(null);
  const [chosen, select] = useState<ReadonlySet<string> | null>(null);
  const [count, setCount] = useState<number>(COUNTS[0]);
  const places = useRef(new Looks());

  const main = useMemo(() => group?.metric ?? mainFigure(runs), [group, runs]);
  const isHigh = main !== null && isBetterHigh(runs, main, group?.mode);
  const columns = useMemo(
    () => columnsOf(runs, main, trans),
    [runs, main, trans]
  );
  const choice = useColumnChoice();
  const filtered = useMemo(
    () => runs.filter(run => matches(run, filter)),
    [runs, filter]
  );
  const inside = useMemo(() => {
    const axes = axisChoices(filtered, trans, group?.choices)
      .filter(({ id }) => brushes.has(id))
      .map(choice => axisOf(choice, filtered));
    return axes.length
      ? filtered.filter(run => isInside(run, axes, brushes))
      : filtered;
  }, [filtered, brushes, trans, group]);
  const table = useTable(inside, columns, groupBy, { main, isHigh });
  const ordered = inOrder(table);
  const selected = useMemo(
    () => chosen ?? new Set(firstOf(ordered, count).map(run => run.path)),
    [chosen, ordered, count]
  );
  const compared = ordered.filter(run => selected.has(run.path));
  const drawn = compared.slice(0, DRAWN);
  const paths = drawn.map(run => run.path);
  const fixed = useMemo(
    () => (group?.kind === 'race' ? raceLooks(runs) : null),
    [group, runs]
  );

  return {
    filter,
    setFilter,
    groupBy,
    setGroupBy,
    brushes,
    setBrushes,
    hovered,
    setHovered,
    columns,
    shownColumns: columns.filter(choice.isShown),
    toggleColumn: choice.toggle,
    showsConstant: choice.showsConstant,
    toggleConstant: choice.toggleConstant,
    count: chosen ? null : count,
    setCount: next => {
      select(null);
      setCount(next);
    },
    table,
    filtered,
    inside,
    selected,
    select,
    compared,
    drawn,
    looks: fixed
      ? new Map([...fixed].filter(([path]) => paths.includes(path)))
      : places.current.of(paths)
  };
}

/** Runs in progress, and the first of the others, in the order of the table. */
function firstOf(ordered: readonly Brief[], count: number): readonly Brief[] {
  const active = ordered.filter(run => ACTIVE.includes(run.status));
  const others = ordered.filter(run => !ACTIVE.includes(run.status));
  return [...active, ...others].slice(0, count);
}
