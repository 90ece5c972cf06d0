// Row of a run in the table.

import type { Translator } from '../../ui/translator';
import { Cell, type Cells } from './cells';
import type { Look } from './line-styles';
import type { RunColumn } from './columns';
import { Swatch } from './Swatch';
import { title, type Brief } from './runs-source';

export interface RowPlace {
  index: number;
  isFocusable: boolean;
  onFocus: () => void;
}

interface RunRowProps {
  run: Brief;
  columns: readonly RunColumn[];
  place: RowPlace;
  isSelected: boolean;
  look: Look | undefined;
  isHovered: boolean;
  onHover: (path: string | null) => void;
  onToggle: (path: string, withRange: boolean) => void;
  cells: Cells;
  trans: Translator;
}

export function RunRow(props: RunRowProps): JSX.Element {
  const { run, columns, place, isSelected, look, cells, trans } = props;
  return (
    <tr
      role="row"
      data-row={run.path}
      data-status={run.status}
      data-hovered={props.isHovered || undefined}
      aria-rowindex={place.index}
      aria-selected={isSelected}
      tabIndex={place.isFocusable ? 0 : -1}
      onFocus={place.onFocus}
      onDoubleClick={event => {
        if (!(event.target as Element).closest('button, input, label')) {
          cells.open?.(run);
        }
      }}
      onPointerEnter={() => props.onHover(run.path)}
      onPointerLeave={() => props.onHover(null)}
    >
      <td role="gridcell">
        <label className="labdl-runs-choice">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={trans.__('Compare %1', title(run))}
            checked={isSelected}
            onChange={() => undefined}
            onClick={event => props.onToggle(run.path, event.shiftKey)}
          />
          <Swatch look={look} />
        </label>
      </td>
      {columns.map(column => (
        <td role="gridcell" key={column.id} data-kind={column.kind}>
          <Cell column={column} run={run} cells={cells} trans={trans} />
        </td>
      ))}
    </tr>
  );
}
