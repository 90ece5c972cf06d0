// One metric: heading with the current values, the plot, and what stands under the cursor.

import { useEffect, useRef, useState } from 'react';
import type { Curve } from './decimation';
import { count, figure } from './format';
import { nearest, Plot, type Hover } from './plot';
import type { MetricCurves } from './run-state';
import { readColours, watchTheme, type ChartColours } from './theme';
import type { Translator } from './translator';

const HEIGHT = 210;

export interface ChartProps {
  metric: MetricCurves;
  syncKey: string;
  trans: Translator;
}

export function Chart({ metric, syncKey, trans }: ChartProps): JSX.Element {
  const [logarithmic, setLogarithmic] = useState(false);
  const [hover, setHover] = useState<Hover | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef(metric);
  latest.current = metric;

  useEffect(() => {
    const element = frame.current;
    if (!element) {
      return;
    }
    let colours: ChartColours = readColours(element);
    const created = new Plot(
      element,
      { width: Math.max(1, element.clientWidth), height: HEIGHT },
      { syncKey, logarithmic, colours: () => colours, hover: setHover }
    );
    created.show(latest.current);
    plot.current = created;
    const observer = new ResizeObserver(() => {
      // A hidden panel has no width: keep the old size until it is shown again.
      if (element.clientWidth > 0) {
        created.resize(element.clientWidth, HEIGHT);
      }
    });
    observer.observe(element);
    const unwatch = watchTheme(() => {
      colours = readColours(element);
      created.recolour();
    });
    return () => {
      unwatch();
      observer.disconnect();
      created.destroy();
      plot.current = null;
      setHover(null);
    };
  }, [syncKey, logarithmic]);

  useEffect(() => {
    plot.current?.show(metric);
  }, [metric]);

  return (
    <figure className="labdl-chart" data-metric={metric.name}>
      <figcaption className="labdl-chart-caption">
        <span className="labdl-chart-name">{metric.name}</span>
        <Legend metric={metric} trans={trans} />
        {metric.name.includes('loss') && (
          <button
            type="button"
            className="labdl-chart-log"
            aria-pressed={logarithmic}
            title={trans.__('Logarithmic axis')}
            onClick={() => setLogarithmic(!logarithmic)}
          >
            {trans.__('log')}
          </button>
        )}
      </figcaption>
      <div
        className="labdl-chart-plot"
        role="img"
        aria-label={description(metric, trans)}
      >
        <div ref={frame} />
        {hover && <Tooltip metric={metric} hover={hover} trans={trans} />}
      </div>
    </figure>
  );
}

function Legend({
  metric,
  trans
}: {
  metric: MetricCurves;
  trans: Translator;
}): JSX.Element {
  return (
    <span className="labdl-chart-legend">
      <span
        className="labdl-legend-entry"
        data-curve="train"
        title={trans.__('Training, smoothed')}
      >
        {trans.__('train')}{' '}
        <span className="labdl-metric" data-metric={metric.name}>
          {figure(metric.trainNow)}
        </span>
      </span>
      {metric.validation.x.length > 0 && (
        <span
          className="labdl-legend-entry"
          data-curve="validation"
          title={trans.__('Validation, end of the epoch')}
        >
          {trans.__('validation')}{' '}
          <span className="labdl-metric" data-metric={`val_${metric.name}`}>
            {figure(metric.validationNow)}
          </span>
        </span>
      )}
    </span>
  );
}

/** Values come from the whole curves, not from the decimated points that are drawn. */
function Tooltip({
  metric,
  hover,
  trans
}: {
  metric: MetricCurves;
  hover: Hover;
  trans: Translator;
}): JSX.Element {
  const at = nearest(metric.train.x, hover.step);
  const validation = nearest(metric.validation.x, hover.step);
  const step = at >= 0 ? metric.train.x[at] : Math.round(hover.step);
  const value = (curve: Curve, i: number) => figure(curve.y[i]);
  const side =
    hover.left > hover.width / 2
      ? { right: hover.width - hover.left + 12 }
      : { left: hover.left + 12 };
  return (
    <div
      className="labdl-chart-tooltip"
      style={{ ...side, top: Math.min(hover.top, HEIGHT - 100) }}
    >
      <div className="labdl-chart-tooltip-step">
        {trans.__('step %1', count(step))}
      </div>
      {at >= 0 && (
        <>
          <div data-curve="train">
            {trans.__('train %1', value(metric.train, at))}
          </div>
          <div data-curve="train">
            {trans.__('smoothed %1', value(metric.smooth, at))}
          </div>
        </>
      )}
      {validation >= 0 && (
        <div data-curve="validation">
          {trans.__(
            'validation %1 (step %2)',
            value(metric.validation, validation),
            count(metric.validation.x[validation])
          )}
        </div>
      )}
    </div>
  );
}

function description(metric: MetricCurves, trans: Translator): string {
  return metric.validation.x.length
    ? trans.__(
        '%1 over steps: training %2, validation %3',
        metric.name,
        figure(metric.trainNow),
        figure(metric.validationNow)
      )
    : trans.__(
        '%1 over steps: training %2',
        metric.name,
        figure(metric.trainNow)
      );
}
