// State of the view of a folder's runs: filter, order, selection, and values derived from them.

import type { Table } from '@tanstack/react-table';
import { useMemo, useRef, useState } from 'react';
import type { Translator } from '../../ui/translator';
import { axisChoices, axisOf } from './axes';
import { isInside, NO_BRUSHES, type Brushes } from './brushing';
import { Looks, type Look } from './line-styles';
import { columnsOf, type RunColumn } from './columns';
import { matches, NO_FILTER, type Filter } from './filter-runs';
import type { Brief } from './runs-source';
import { useColumnChoice } from './useColumnChoice';
import { inOrder, useTable } from './useTable';

/** Number of runs that are compared while none is selected. */
const FIRST = 5;
/** Maximum number of runs whose curves are drawn. */
export const DRAWN = 20;

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
  selected: ReadonlySet<string>;
  select: (paths: ReadonlySet<string>) => void;
  /** Runs that are compared, in the order of the table. */
  compared: readonly Brief[];
  drawn: readonly Brief[];
  looks: ReadonlyMap<string, Look>;
}

export function useRunsView(
  runs: readonly Brief[],
  trans: Translator
): RunsViewState {
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const [groupBy, setGroupBy] = useState<string | null>(null);
  const [brushes, setBrushes] = useState<Brushes>(NO_BRUSHES);
  const [hovered, setHovered] = useState<string | null>(null);
  const [chosen, select] = useState<ReadonlySet<string> | null>(null);
  const places = useRef(new Looks());

  const columns = useMemo(() => columnsOf(runs, trans), [runs, trans]);
  const { isShown, toggle } = useColumnChoice();
  const filtered = useMemo(
    () => runs.filter(run => matches(run, filter)),
    [runs, filter]
  );
  const inside = useMemo(() => {
    const axes = axisChoices(filtered, trans)
      .filter(({ id }) => brushes.has(id))
      .map(choice => axisOf(choice, filtered));
    return axes.length
      ? filtered.filter(run => isInside(run, axes, brushes))
      : filtered;
  }, [filtered, brushes, trans]);
  const table = useTable(inside, columns, groupBy);
  const ordered = inOrder(table);
  const selected = useMemo(
    () => chosen ?? new Set(ordered.slice(0, FIRST).map(run => run.path)),
    [chosen, ordered]
  );
  const compared = ordered.filter(run => selected.has(run.path));
  const drawn = compared.slice(0, DRAWN);

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
    shownColumns: columns.filter(isShown),
    toggleColumn: toggle,
    table,
    filtered,
    inside,
    selected,
    select,
    compared,
    drawn,
    looks: places.current.of(drawn.map(run => run.path))
  };
}
