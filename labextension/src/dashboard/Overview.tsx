// The run at a glance: its curves, learning rate, speed, health and machine, and the epochs.

import { useCallback, useId, useMemo } from 'react';
import { Chart } from './Chart';
import { ChartTools } from './ChartTools';
import { Epochs } from './Epochs';
import { useKept } from './kept';
import { markText } from './mark-words';
import type { MetricCurves } from './parts/metrics';
import type { Steps } from './plot-content';
import type { ChartView } from './PlotFrame';
import { SmallCharts } from './SmallCharts';
import { SMOOTHINGS } from './smoothing';
import type { RunView } from './store';
import { Strip } from './Strip';
import type { Translator } from './translator';
import { X_AXES, xAxis } from './x-axis';

export interface OverviewProps {
  run: RunView;
  zoom: Steps | null;
  setZoom: (steps: Steps | null) => void;
  trans: Translator;
}

/** The loss and the metric that was named first stand above all else. */
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
  const [smoothing, setSmoothing] = useKept('smoothing', SMOOTHINGS, 'normal');
  const [axisName, setAxis] = useKept('chart-axis', X_AXES, 'step');
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
        <Strip run={run} trans={trans} />
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
      <Strip run={run} trans={trans} />
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

/** The flags on the curves, for who cannot see them. */
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
      return trans.__('There are no figures yet.');
  }
}
