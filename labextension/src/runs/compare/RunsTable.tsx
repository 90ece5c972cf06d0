// Table of the runs of a folder; only visible rows are rendered.

import type { Row, Table } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import type { Translator } from '../../ui/translator';
import type { Cells } from './cells';
import type { Look } from './line-styles';
import type { RunColumn } from './columns';
import { GroupRow } from './GroupRow';
import { RunRow } from './RunRow';
import type { Brief } from './runs-source';
import { useRowKeys } from './useRowKeys';

const ROW = 30;
const CHOICE = 34;

export interface RunsTableProps {
  table: Table<Brief>;
  columns: readonly RunColumn[];
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
  looks: ReadonlyMap<string, Look>;
  hovered: string | null;
  onHover: (path: string | null) => void;
  cells: Cells;
  trans: Translator;
}

export function RunsTable(props: RunsTableProps): JSX.Element {
  const { table, columns, selected, onSelect, trans } = props;
  const frame = useRef<HTMLDivElement>(null);
  const rows = table.getRowModel().rows;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW,
    getItemKey: index => rows[index].id,
    overscan: 6
  });
  const keys = useRowKeys(frame, rows, virtual, props);
  const shown = virtual.getVirtualItems();
  const before = shown.length ? shown[0].start : 0;
  const after = shown.length
    ? virtual.getTotalSize() - shown[shown.length - 1].end
    : 0;
  const width = columns.reduce((sum, column) => sum + column.width, CHOICE);
  const leaves = rows.filter(row => !row.getIsGrouped());
  const isAll = leaves.length > 0 && leaves.every(row => selected.has(row.id));

  const draw = (row: Row<Brief>, index: number) => {
    const place = {
      index: index + 2,
      isFocusable: keys.focused === row.id || (!keys.focused && index === 0),
      onFocus: () => keys.setFocused(row.id)
    };
    return row.getIsGrouped() ? (
      <GroupRow
        key={row.id}
        row={row}
        span={columns.length + 1}
        place={place}
        selected={selected}
        onSelect={onSelect}
        trans={trans}
      />
    ) : (
      <RunRow
        key={row.id}
        run={row.original}
        columns={columns}
        place={place}
        isSelected={selected.has(row.id)}
        look={props.looks.get(row.id)}
        isHovered={props.hovered === row.id}
        onHover={props.onHover}
        onToggle={keys.toggle}
        cells={props.cells}
        trans={trans}
      />
    );
  };

  return (
    <div className="labdl-runs-frame" ref={frame}>
      <table
        role="grid"
        aria-label={trans.__('Training runs')}
        aria-multiselectable
        aria-rowcount={rows.length + 1}
        style={{ width }}
        onKeyDown={keys.onKeyDown}
      >
        <colgroup>
          <col style={{ width: CHOICE }} />
          {columns.map(column => (
            <col key={column.id} style={{ width: column.width }} />
          ))}
        </colgroup>
        <thead>
          <tr role="row" aria-rowindex={1}>
            <th role="columnheader">
              <input
                type="checkbox"
                aria-label={trans.__('Select all runs')}
                checked={isAll}
                onChange={() =>
                  onSelect(new Set(isAll ? [] : leaves.map(row => row.id)))
                }
              />
            </th>
            {columns.map(column => (
              <Head
                key={column.id}
                column={column}
                table={table}
                trans={trans}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <tr role="presentation" style={{ height: before }} />}
          {shown.map(({ index }) => draw(rows[index], index))}
          {after > 0 && <tr role="presentation" style={{ height: after }} />}
        </tbody>
      </table>
    </div>
  );
}

function Head({
  column,
  table,
  trans
}: {
  column: RunColumn;
  table: Table<Brief>;
  trans: Translator;
}): JSX.Element {
  const sorted = table.getColumn(column.id)?.getIsSorted() ?? false;
  const place = table.getState().sorting.findIndex(s => s.id === column.id);
  const isSecond = table.getState().sorting.length > 1 && place >= 0;
  return (
    <th
      role="columnheader"
      data-kind={column.kind}
      aria-sort={
        sorted === 'asc'
          ? 'ascending'
          : sorted === 'desc'
            ? 'descending'
            : 'none'
      }
    >
      <button
        type="button"
        title={trans.__(
          'Sort by %1; Shift+click to add a sort level',
          column.label
        )}
        onClick={table.getColumn(column.id)?.getToggleSortingHandler()}
      >
        <span>{column.label}</span>
        <span aria-hidden className="labdl-runs-sorted">
          {sorted === 'asc' ? '▲' : sorted === 'desc' ? '▼' : ''}
          {isSecond ? place + 1 : ''}
        </span>
      </button>
    </th>
  );
}
