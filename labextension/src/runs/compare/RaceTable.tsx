// Table of a race: progress, speed, memory and difference from the reference of each run.

import type { ReactNode } from 'react';
import { formatNumber } from '../../ui/number-format';
import type { Translator } from '../../ui/translator';
import type { Look } from './line-styles';
import { bytesWord, type Cost } from './race';
import type { Brief, RunsSource } from './runs-source';
import { StatusBadge } from './StatusBadge';
import { StopAll } from './StopAll';
import { Swatch } from './Swatch';
import { epochLabel, secondsLabel } from './run-text';

interface RaceTableProps {
  runs: readonly Brief[];
  names: ReadonlyMap<string, string>;
  looks: ReadonlyMap<string, Look>;
  costs: ReadonlyMap<string, Cost>;
  far: ReadonlyMap<string, number | null>;
  reference: string;
  source: RunsSource;
  hovered: string | null;
  onHover: (path: string | null) => void;
  trans: Translator;
}

export function RaceTable(props: RaceTableProps): JSX.Element {
  const { runs, names, looks, costs, far, source, trans } = props;
  const most = (cost: keyof Cost) =>
    Math.max(0, ...runs.map(run => costs.get(run.path)?.[cost] ?? 0));
  const bar = (
    run: Brief,
    cost: keyof Cost,
    word: (value: number) => string
  ) => (
    <Bar
      value={costs.get(run.path)?.[cost] ?? null}
      most={most(cost)}
      look={looks.get(run.path)}
      word={word}
    />
  );
  const hasGpu = most('gpuMemory') > 0;
  const figures = ['loss', 'val_loss'].filter(f => runs.some(run => f in run.figures)); // prettier-ignore

  return (
    <div className="labdl-race-table">
      <table aria-label={trans.__('Leaderboard')}>
        <thead>
          <tr>
            <th scope="col">{trans.__('Backend')}</th>
            <th scope="col">{trans.__('Status')}</th>
            <th scope="col">{trans.__('Epoch')}</th>
            {figures.map(name => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
            <th scope="col">{trans.__('Largest difference')}</th>
            <th scope="col">{trans.__('Duration')}</th>
            <th scope="col">{trans.__('Samples per second')}</th>
            <th scope="col">{trans.__('Memory')}</th>
            {hasGpu && <th scope="col">{trans.__('GPU memory')}</th>}
          </tr>
        </thead>
        <tbody>
          {runs.map(run => (
            <tr
              key={run.path}
              data-row={run.path}
              data-status={run.status}
              data-hovered={run.path === props.hovered || undefined}
              onPointerEnter={() => props.onHover(run.path)}
              onPointerLeave={() => props.onHover(null)}
            >
              <th scope="row">
                <Swatch look={looks.get(run.path)} />
                <Opener run={run} source={source} trans={trans}>
                  {names.get(run.path)}
                </Opener>
              </th>
              <td>
                <StatusBadge run={run} trans={trans} />
              </td>
              <td>{epochLabel(run)}</td>
              {figures.map(name => (
                <td key={name}>{formatNumber(run.figures[name])}</td>
              ))}
              <td>
                {run.path === props.reference
                  ? trans.__('reference')
                  : formatNumber(far.get(run.path) ?? undefined)}
              </td>
              <td>{secondsLabel(run.seconds)}</td>
              <td>
                {bar(run, 'throughput', value =>
                  Math.round(value).toLocaleString()
                )}
              </td>
              <td>{bar(run, 'memory', bytesWord)}</td>
              {hasGpu && <td>{bar(run, 'gpuMemory', bytesWord)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      <StopAll
        source={source}
        paths={runs.filter(run => run.alive).map(run => run.path)}
        runs={runs}
        trans={trans}
      />
    </div>
  );
}

interface BarProps {
  value: number | null;
  most: number;
  look: Look | undefined;
  word: (value: number) => string;
}

function Bar({ value, most, look, word }: BarProps): JSX.Element {
  return (
    <span className="labdl-race-bar">
      <span>{value === null ? '–' : word(value)}</span>
      <span className="labdl-race-bar-all" aria-hidden="true">
        {value !== null && most > 0 && (
          <span
            style={{
              width: `${(100 * value) / most}%`,
              background: look?.color
            }}
          />
        )}
      </span>
    </span>
  );
}

interface OpenerProps {
  run: Brief;
  source: RunsSource;
  children: ReactNode;
  trans: Translator;
}

/** Name of a run, as a button that opens its dashboard where the host has one. */
export function Opener({
  run,
  source,
  children,
  trans
}: OpenerProps): JSX.Element {
  return source.open ? (
    <button
      type="button"
      className="labdl-runs-link"
      title={trans.__('Open the dashboard of %1', run.path)}
      onClick={() => source.open?.(run.path)}
    >
      {children}
    </button>
  ) : (
    <span>{children}</span>
  );
}
