// View of a folder's runs: the table, a comparison below it, and the summary of a race or a sweep.

import { useState } from 'react';
import type { Translator } from '../../ui/translator';
import { DrawnRuns } from './DrawnRuns';
import { EmptyRuns } from './EmptyRuns';
import { Overlay } from './Overlay';
import { ParallelCoordinates } from './ParallelCoordinates';
import { RaceView } from './RaceView';
import { DeleteRunDialog } from './DeleteRunDialog';
import { RunsToolbar } from './RunsToolbar';
import { RunsTable } from './RunsTable';
import { Scatter } from './Scatter';
import { SettingsDiff } from './SettingsDiff';
import type { Runs, RunsSource } from './runs-source';
import { SweepView } from './SweepView';
import { Tabs, type Tab } from '../../ui/Tabs';
import { useRunsView, type RunsViewState } from './useRunsView';
import { useCells } from './useCells';
import { useRuns } from './useRuns';

export interface RunsViewProps {
  source: RunsSource;
  trans: Translator;
}

export function RunsView({ source, trans }: RunsViewProps): JSX.Element {
  const { runs, trouble } = useRuns(source);
  return (
    <section
      className="labdl-runs"
      data-group={runs?.group?.kind}
      aria-label={trans.__('Training runs')}
    >
      {trouble && (
        <div className="labdl-runs-notice" role="alert">
          {trouble}
        </div>
      )}
      {!runs ? (
        !trouble && (
          <p className="labdl-runs-quiet">{trans.__('Looking for runs…')}</p>
        )
      ) : runs.runs.length ? (
        <Folder source={source} runs={runs} trans={trans} />
      ) : runs.group && !runs.group.status ? (
        <p className="labdl-runs-quiet">
          {runs.group.kind === 'race'
            ? trans.__('The race is starting its backends…')
            : trans.__('The sweep is starting its first trial…')}
        </p>
      ) : (
        <EmptyRuns folder={runs.folder} trans={trans} />
      )}
    </section>
  );
}

interface FolderProps extends RunsViewProps {
  runs: Runs;
}

function Folder({ source, runs, trans }: FolderProps): JSX.Element {
  const board = useRunsView(runs, trans);
  const doing = useCells(source);
  const [tab, setTab] = useState(runs.group?.kind ?? 'curves');
  const comparing = (
    <div className="labdl-compare">
      <Tabs
        label={trans.__('Compare')}
        tabs={tabsOf(source, runs, board, trans)}
        selected={tab}
        onSelect={id => setTab(id as typeof tab)}
      />
    </div>
  );
  const listing = (
    <div className="labdl-runs-listing">
      <RunsToolbar
        runs={runs.runs}
        shown={board.inside.length}
        filter={board.filter}
        onFilter={board.setFilter}
        groupBy={board.groupBy}
        onGroup={board.setGroupBy}
        columns={board.columns}
        isShown={column => board.shownColumns.includes(column)}
        onColumn={board.toggleColumn}
        showsConstant={board.showsConstant}
        onConstant={board.toggleConstant}
        trans={trans}
      />
      {doing.removed && (
        <DeleteRunDialog
          run={doing.removed}
          onRemove={() => void doing.remove()}
          onCancel={doing.keep}
          trans={trans}
        />
      )}
      {doing.trouble && (
        <div className="labdl-runs-notice" role="alert">
          <span>{doing.trouble}</span>
          <button type="button" onClick={doing.forget}>
            {trans.__('Close')}
          </button>
        </div>
      )}
      {runs.truncated && <p className="labdl-runs-quiet">{runs.truncated}</p>}
      <RunsTable
        table={board.table}
        columns={board.shownColumns}
        selected={board.selected}
        onSelect={board.select}
        looks={board.looks}
        hovered={board.hovered}
        onHover={board.setHovered}
        cells={doing.cells}
        trans={trans}
      />
      {board.inside.length === 0 && (
        <p className="labdl-runs-quiet">
          {trans.__('No runs match the filter.')}
        </p>
      )}
    </div>
  );
  // the summary of a race or a sweep is above the table
  return (
    <>
      {runs.group ? comparing : listing}
      {runs.group ? listing : comparing}
    </>
  );
}

function tabsOf(
  source: RunsSource,
  runs: Runs,
  board: RunsViewState,
  trans: Translator
): Tab[] {
  const { drawn, looks, hovered, setHovered } = board;
  const seen = { hovered, onHover: setHovered, trans };
  const own: Tab[] =
    runs.group?.kind === 'race'
      ? [
          {
            id: 'race',
            label: trans.__('Race'),
            content: () => <RaceView source={source} runs={runs} {...seen} />
          }
        ]
      : runs.group?.kind === 'sweep'
        ? [
            {
              id: 'sweep',
              label: trans.__('Sweep'),
              content: () => (
                <SweepView
                  source={source}
                  runs={runs}
                  board={board}
                  trans={trans}
                />
              )
            }
          ]
        : [];
  const nothing = (
    <p className="labdl-runs-quiet">
      {trans.__('Select runs in the table to compare them.')}
    </p>
  );
  return [
    ...own,
    {
      id: 'curves',
      label: trans.__('Curves'),
      content: () =>
        drawn.length ? (
          <>
            <DrawnRuns board={board} trans={trans} />
            <Overlay
              source={source}
              runs={drawn}
              looks={looks}
              groupOf={groupOf(board, trans)}
              {...seen}
            />
          </>
        ) : (
          nothing
        )
    },
    {
      id: 'settings',
      label: trans.__('Settings'),
      content: () =>
        drawn.length ? (
          <SettingsDiff runs={drawn} looks={looks} trans={trans} />
        ) : (
          nothing
        )
    },
    {
      id: 'parallel',
      label: trans.__('Parallel coordinates'),
      content: () => (
        <ParallelCoordinates
          runs={board.filtered}
          inside={board.inside}
          choices={runs.group?.choices}
          brushes={board.brushes}
          onBrush={board.setBrushes}
          onOpen={source.open?.bind(source)}
          {...seen}
        />
      )
    },
    {
      id: 'scatter',
      label: trans.__('Scatter'),
      content: () => (
        <Scatter
          runs={board.inside}
          choices={runs.group?.choices}
          onOpen={source.open?.bind(source)}
          {...seen}
        />
      )
    }
  ];
}

/** Function for the name of a run's group, if the table is grouped. */
function groupOf(board: RunsViewState, trans: Translator) {
  const column = board.columns.find(({ id }) => id === board.groupBy);
  return column
    ? (run: Runs['runs'][number]) => `${column.value(run) ?? trans.__('None')}`
    : null;
}
