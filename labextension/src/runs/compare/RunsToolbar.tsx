// Toolbar of the table of runs: search, facets, groups and columns.

import { statusLabel } from '../dashboard/status-text';
import type { Translator } from '../../ui/translator';
import type { RunColumn } from './columns';
import {
  filterRuns,
  counts,
  FACETS,
  isFiltering,
  NO_FILTER,
  toggleFacet,
  type Facet,
  type Filter
} from './filter-runs';
import { Menu, MenuChoice } from '../../ui/Menu';
import type { Brief } from './runs-source';

export const GROUPS = ['model', 'backend', 'group', 'tags'] as const;

interface RunsToolbarProps {
  runs: readonly Brief[];
  shown: number;
  filter: Filter;
  onFilter: (filter: Filter) => void;
  groupBy: string | null;
  onGroup: (by: string | null) => void;
  columns: readonly RunColumn[];
  isShown: (column: RunColumn) => boolean;
  onColumn: (column: RunColumn) => void;
  showsConstant: boolean;
  onConstant: () => void;
  trans: Translator;
}

export function RunsToolbar(props: RunsToolbarProps): JSX.Element {
  const { runs, shown, filter, onFilter, groupBy, onGroup, columns, trans } =
    props;
  const constant = columns.filter(column => column.isConstant).length;
  const labels: Record<Facet, string> = {
    status: trans.__('Status'),
    backend: trans.__('Backend'),
    tags: trans.__('Tags'),
    group: trans.__('Race or sweep')
  };
  const word = (facet: Facet, value: string) =>
    facet === 'status' ? statusLabel(value as Brief['status'], trans) : value;
  return (
    <div className="labdl-runs-bar" role="search">
      <input
        type="search"
        placeholder={trans.__('Filter runs')}
        aria-label={trans.__('Filter runs')}
        value={filter.words}
        onChange={event => onFilter({ ...filter, words: event.target.value })}
      />
      {FACETS.map(facet => {
        const values = counts(runs, facet);
        const picked = filterRuns(filter, facet);
        return (
          (values.length > 1 || picked.length > 0) && (
            <Menu key={facet} label={labels[facet]} count={picked.length}>
              {values.map(([value, count]) => (
                <MenuChoice
                  key={value}
                  label={word(facet, value)}
                  note={`${count}`}
                  isChosen={picked.includes(value)}
                  onToggle={() => onFilter(toggleFacet(filter, facet, value))}
                />
              ))}
            </Menu>
          )
        );
      })}
      <label className="labdl-runs-by">
        {trans.__('Group by')}{' '}
        <select
          value={groupBy ?? ''}
          onChange={event => onGroup(event.target.value || null)}
        >
          <option value="">{trans.__('nothing')}</option>
          {columns
            .filter(({ id }) => (GROUPS as readonly string[]).includes(id))
            .map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
        </select>
      </label>
      <Menu label={trans.__('Columns')}>
        {columns.map(column => (
          <MenuChoice
            key={column.id}
            label={column.label}
            isChosen={props.isShown(column)}
            onToggle={() => props.onColumn(column)}
          />
        ))}
      </Menu>
      {constant > 0 && (
        <button
          type="button"
          className="labdl-runs-constant"
          aria-pressed={props.showsConstant}
          title={trans.__('Columns with the same value in all runs')}
          onClick={props.onConstant}
        >
          {props.showsConstant
            ? trans._n(
                'Hide %1 constant column',
                'Hide %1 constant columns',
                constant
              )
            : trans._n(
                'Show %1 constant column',
                'Show %1 constant columns',
                constant
              )}
        </button>
      )}
      <span className="labdl-runs-count" role="status">
        {shown < runs.length
          ? trans.__('%1 of %2 runs', shown, runs.length)
          : trans._n('%1 run', '%1 runs', runs.length)}
        {isFiltering(filter) && (
          <button type="button" onClick={() => onFilter(NO_FILTER)}>
            {trans.__('Show all')}
          </button>
        )}
      </span>
    </div>
  );
}
