// Model of the table of runs, without rendering: order and groups.

import {
  getCoreRowModel,
  getExpandedRowModel,
  getGroupedRowModel,
  getSortedRowModel,
  useReactTable,
  type ColumnDef,
  type ExpandedState,
  type Row,
  type SortingState,
  type Table
} from '@tanstack/react-table';
import { useMemo, useState } from 'react';
import type { RunColumn } from './columns';
import type { Brief } from './runs-source';

const collator = new Intl.Collator(undefined, {
  numeric: true,
  sensitivity: 'base'
});

/** Compares two rows by a column, numbers before words. The table puts missing values last in both directions. */
export function compare(a: Row<Brief>, b: Row<Brief>, column: string): number {
  const [x, y] = [a.getValue(column), b.getValue(column)];
  if (typeof x === 'number' || typeof y === 'number') {
    return typeof x === typeof y
      ? (x as number) - (y as number)
      : typeof x === 'number'
        ? -1
        : 1;
  }
  return collator.compare(`${x}`, `${y}`);
}

/** Best runs first, runs without a result last; of equal ones the newest, as they are listed. */
function bestFirst(main: string | null, isHigh: boolean): SortingState {
  return main === null
    ? [{ id: 'time', desc: true }]
    : [{ id: `best.${main}`, desc: isHigh }];
}

export function useTable(
  runs: readonly Brief[],
  columns: readonly RunColumn[],
  groupBy: string | null,
  { main, isHigh }: { main: string | null; isHigh: boolean }
): Table<Brief> {
  const [chosen, setSorting] = useState<SortingState | null>(null);
  const sorting = useMemo(
    () => chosen ?? bestFirst(main, isHigh),
    [chosen, main, isHigh]
  );
  const [expanded, setExpanded] = useState<ExpandedState>(true);
  const ids = columns.map(column => column.id).join();
  const definitions = useMemo(
    () =>
      columns.map((column): ColumnDef<Brief> => ({
        id: column.id,
        accessorFn: column.value,
        sortingFn: compare,
        sortUndefined: 'last',
        sortDescFirst: column.id === 'time',
        // a group is at the position of its first run
        aggregationFn: 'min'
      })),
    [ids]
  );
  // ignore a sort by a column that does not exist any more
  const known = useMemo(
    () => sorting.filter(({ id }) => definitions.some(c => c.id === id)),
    [sorting, definitions]
  );
  const grouping = useMemo(() => (groupBy ? [groupBy] : []), [groupBy]);
  return useReactTable({
    data: runs as Brief[],
    columns: definitions,
    state: {
      sorting: known,
      expanded,
      grouping
    },
    onSortingChange: change =>
      setSorting(typeof change === 'function' ? change(sorting) : change),
    onExpandedChange: setExpanded,
    getRowId: run => run.path,
    groupedColumnMode: false,
    // new data must not fold groups
    autoResetAll: false,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
    getGroupedRowModel: getGroupedRowModel(),
    getExpandedRowModel: getExpandedRowModel()
  });
}

/** Runs in the order of the table, including those of folded groups. */
export function inOrder(table: Table<Brief>): Brief[] {
  return table
    .getSortedRowModel()
    .flatRows.filter(row => !row.getIsGrouped())
    .map(row => row.original);
}
