// Summary of a sweep: progress, best trial, and effect of the settings on the result.

import { formatNumber } from '../../ui/number-format';
import { statusLabel } from '../dashboard/status-text';
import type { Translator } from '../../ui/translator';
import { bestTrial } from './best-run';
import { DrawnRuns } from './DrawnRuns';
import { Overlay } from './Overlay';
import { ParallelCoordinates } from './ParallelCoordinates';
import { Opener } from './RaceTable';
import { mainFigure } from './settings';
import {
  title,
  type Brief,
  type BriefStatus,
  type Group,
  type Runs,
  type RunsSource
} from './runs-source';
import { StopAll } from './StopAll';
import type { RunsViewState } from './useRunsView';
import { settingLabel } from './run-text';

export interface SweepViewProps {
  source: RunsSource;
  runs: Runs;
  board: RunsViewState;
  trans: Translator;
}

export function SweepView({
  source,
  runs,
  board,
  trans
}: SweepViewProps): JSX.Element {
  const metric = runs.group?.metric ?? mainFigure(runs.runs);
  const best = bestTrial(runs.runs, metric, runs.group?.mode);
  const onHover = board.setHovered;
  return (
    <div className="labdl-sweep">
      <div className="labdl-sweep-head">
        <div className="labdl-sweep-progress">
          <Progress runs={runs.runs} group={runs.group} trans={trans} />
          <StopAll
            source={source}
            paths={['.']}
            runs={runs.runs}
            trans={trans}
          />
        </div>
        {best && metric && (
          <p className="labdl-sweep-best" data-row={best.path}>
            <b>{trans.__('Best trial')}</b>{' '}
            <Opener run={best} source={source} trans={trans}>
              {title(best)}
            </Opener>{' '}
            <span>
              {metric} <b>{formatNumber(best.best[metric]?.value)}</b>
              {best.best[metric]?.epoch
                ? ` (${trans.__('epoch %1', best.best[metric].epoch)})`
                : ''}
            </span>{' '}
            {Object.entries(best.params).map(([name, value]) => (
              <span className="labdl-runs-tag" key={name}>
                {name}{' '}
                {settingLabel(
                  typeof value === 'object'
                    ? JSON.stringify(value)
                    : (value as string | number)
                )}
              </span>
            ))}
          </p>
        )}
      </div>
      <ParallelCoordinates
        runs={board.filtered}
        inside={board.inside}
        brushes={board.brushes}
        onBrush={board.setBrushes}
        hovered={board.hovered}
        onHover={onHover}
        onOpen={source.open?.bind(source)}
        result={metric}
        choices={runs.group?.choices}
        trans={trans}
      />
      <DrawnRuns board={board} trans={trans} />
      {board.drawn.length > 0 && (
        <Overlay
          source={source}
          runs={board.drawn}
          looks={board.looks}
          hovered={board.hovered}
          onHover={onHover}
          groupOf={null}
          trans={trans}
        />
      )}
    </div>
  );
}

const SHOWN: readonly BriefStatus[] = ['finished', 'running', 'paused', 'stopping', 'waiting', 'stopped', 'failed', 'lost', 'unreadable']; // prettier-ignore

interface ProgressProps {
  runs: readonly Brief[];
  group: Group | null;
  trans: Translator;
}

function Progress({ runs, group, trans }: ProgressProps): JSX.Element {
  const all = Math.max(runs.length, group?.trials ?? 0);
  const counted = SHOWN.map(
    status =>
      [status, runs.filter(run => run.status === status).length] as const
  ) // prettier-ignore
    .filter(([, count]) => count > 0);
  return (
    <>
      <span className="labdl-sweep-bar" aria-hidden="true">
        {counted.map(([status, count]) => (
          <span key={status} data-status={status} style={{ flexGrow: count }} />
        ))}
        {all > runs.length && <span style={{ flexGrow: all - runs.length }} />}
      </span>
      <span role="status">
        {group?.trials
          ? trans.__('%1 of %2 trials', runs.length, all)
          : trans._n('%1 trial', '%1 trials', all)}
        {group?.method ? ` · ${group.method}` : ''}
        {group?.status ? ` · ${statusLabel(group.status, trans)}` : ''}
        {counted.map(([status, count]) => (
          <span key={status} className="labdl-runs-status" data-status={status}>
            {statusLabel(status, trans)} {count}
          </span>
        ))}
      </span>
    </>
  );
}
