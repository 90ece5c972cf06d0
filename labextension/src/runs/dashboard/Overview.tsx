// Overview of a run: curves, learning rate, speed, health, machine, and epochs.

import { useCallback, useId, useMemo } from 'react';
import { Chart } from '../charts/Chart';
import { ChartTools } from '../charts/ChartTools';
import { Epochs } from './Epochs';
import { useStoredChoice } from '../../ui/stored-choice';
import { markText } from './mark-text';
import type { MetricCurves } from '../store/metrics';
import type { Steps } from '../charts/plot-content';
import type { ChartView } from '../charts/PlotFrame';
import { SmallCharts } from '../charts/SmallCharts';
import { SMOOTHINGS } from '../store/smoothing';
import type { RunView } from '../store/store';
import { StatisticsStrip } from './StatisticsStrip';
import type { Translator } from '../../ui/translator';
import { X_AXES, xAxis } from '../charts/x-axis';

export interface OverviewProps {
  run: RunView;
  zoom: Steps | null;
  setZoom: (steps: Steps | null) => void;
  trans: Translator;
}

/** Number of large charts: the loss and the first metric. */
const MAIN = 2;
const HEIGHT = 196;
const HIDDEN_MARKS = 50;

export function Overview({
  run,
  zoom,
  setZoom,
  trans
}: OverviewProps): JSX.Element {
  const syncKey = useId();
  const [smoothing, setSmoothing] = useStoredChoice(
    'smoothing',
    SMOOTHINGS,
    'normal'
  );
  const [axisName, setAxis] = useStoredChoice('chart-axis', X_AXES, 'step');
  const stepsPerEpoch = run.start?.steps_per_epoch ?? null;
  const axis = useMemo(
    () => xAxis(axisName, run.clock, stepsPerEpoch),
    [axisName, run.clock, stepsPerEpoch]
  );
  const reset = useCallback(() => setZoom(null), [setZoom]);
  const view = useMemo<ChartView>(
    () => ({ syncKey, axis, zoom, setZoom }),
    [syncKey, axis, zoom, setZoom]
  );
  const metrics = run.metrics.filter(
    ({ train, validation }) => train.length || validation.length
  );
  const [from, to] = [firstStep(metrics), run.step];
  const extent = useMemo<Steps | null>(
    () =>
      Number.isFinite(from) ? [from > 1 ? from : 0, Math.max(from, to)] : null,
    [from, to]
  );
  const chart = (metric: MetricCurves) => (
    <Chart
      key={metric.name}
      metric={metric}
      view={view}
      extent={extent}
      marks={run.marks}
      best={run.table.best}
      smoothing={smoothing}
      height={HEIGHT}
      trans={trans}
    />
  );
  if (!metrics.length) {
    return (
      <>
        <p className="labdl-dashboard-empty">{emptyText(run, trans)}</p>
        <StatisticsStrip run={run} trans={trans} />
      </>
    );
  }
  return (
    <div className="labdl-overview">
      <ChartTools
        smoothing={smoothing}
        setSmoothing={setSmoothing}
        axis={axis.name}
        setAxis={setAxis}
        hasEpochs={stepsPerEpoch !== null}
        isZoomed={zoom !== null}
        resetZoom={reset}
        trans={trans}
      />
      <div className="labdl-dashboard-charts">
        {metrics.slice(0, MAIN).map(chart)}
      </div>
      <SmallCharts run={run} view={view} extent={extent} trans={trans} />
      <StatisticsStrip run={run} trans={trans} />
      {metrics.length > MAIN && (
        <div className="labdl-dashboard-charts">
          {metrics.slice(MAIN).map(chart)}
        </div>
      )}
      <Epochs rows={run.table.rows} best={run.table.best} trans={trans} />
      <MarkList run={run} trans={trans} />
    </div>
  );
}

/** List of the marks on the curves, for screen readers. */
function MarkList({
  run,
  trans
}: {
  run: RunView;
  trans: Translator;
}): JSX.Element | null {
  return run.marks.length ? (
    <ul
      className="labdl-dashboard-unseen"
      aria-label={trans.__('Marks on the curves')}
    >
      {run.marks.slice(-HIDDEN_MARKS).map((mark, i) => (
        <li key={i}>{markText(mark, trans)}</li>
      ))}
    </ul>
  ) : null;
}

function firstStep(metrics: readonly MetricCurves[]): number {
  return Math.min(
    ...metrics.flatMap(({ train, validation }) =>
      [train, validation].map(({ length, x }) => (length ? x[0] : Infinity))
    )
  );
}

function emptyText({ status }: RunView, trans: Translator): string {
  switch (status) {
    case 'waiting':
    case 'running':
      return trans.__('Waiting for the first batch…');
    case 'failed':
    case 'stopped':
    case 'finished':
      return trans.__('The run ended before its first step.');
    default:
      return trans.__('No metrics yet.');
  }
}
