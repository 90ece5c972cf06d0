// Header row of a group of runs.

import type { Row } from '@tanstack/react-table';
import type { Translator } from '../../ui/translator';
import type { RowPlace } from './RunRow';
import type { Brief } from './runs-source';

interface GroupRowProps {
  row: Row<Brief>;
  span: number;
  place: RowPlace;
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
  trans: Translator;
}

export function GroupRow(props: GroupRowProps): JSX.Element {
  const { row, place, selected, trans } = props;
  const isOpen = row.getIsExpanded();
  const paths = row.getLeafRows().map(leaf => leaf.id);
  const isAll = paths.every(path => selected.has(path));
  const name = row.getGroupingValue(row.groupingColumnId ?? '');
  const label = name === undefined ? trans.__('None') : `${name}`;
  const toggle = () => {
    const next = new Set(selected);
    paths.forEach(path => next[isAll ? 'delete' : 'add'](path));
    props.onSelect(next);
  };
  return (
    <tr
      role="row"
      className="labdl-runs-group"
      data-row={row.id}
      aria-rowindex={place.index}
      aria-expanded={isOpen}
      tabIndex={place.isFocusable ? 0 : -1}
      onFocus={place.onFocus}
    >
      <td role="gridcell">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={trans.__('Select the runs of %1', label)}
          checked={isAll}
          onChange={toggle}
        />
      </td>
      <td role="gridcell" colSpan={props.span - 1}>
        <button
          type="button"
          tabIndex={-1}
          onClick={() => row.toggleExpanded()}
          title={label}
        >
          <span aria-hidden>{isOpen ? '▾' : '▸'}</span> <b>{label}</b>{' '}
          <small>{trans._n('%1 run', '%1 runs', paths.length)}</small>
        </button>
      </td>
    </tr>
  );
}
