// Chart of one metric: heading with the current values, plot, and tooltip at the cursor.

import { memo, useMemo, useRef, useState } from 'react';
import { ChartMenu } from './ChartMenu';
import { nearest } from '../store/column';
import type { Curve } from '../store/decimation';
import { formatCount, formatNumber } from '../../ui/number-format';
import { Legend } from './Legend';
import type { Best } from '../store/epochs';
import type { Mark } from '../store/marks';
import type { MetricCurves } from '../store/metrics';
import type { Plot } from './plot';
import { metricContent, type Steps } from './plot-content';
import { PlotFrame, type ChartView, type TooltipLine } from './PlotFrame';
import { metricTable } from './chart-table';
import type { Smoothing } from '../store/smoothing';
import type { Translator } from '../../ui/translator';

const STYLE = { kind: 'metric' } as const;

export interface ChartProps {
  metric: MetricCurves;
  view: ChartView;
  /** Steps of the whole run. */
  extent: Steps | null;
  marks: readonly Mark[];
  best: Best;
  smoothing: Smoothing;
  height: number;
  trans: Translator;
}

export const Chart = memo(function Chart(props: ChartProps): JSX.Element {
  const { metric, view, extent, marks, smoothing, trans } = props;
  const [logarithmic, setLogarithmic] = useState(false);
  const plot = useRef<Plot | null>(null);
  const content = useMemo(
    () => metricContent(metric, smoothing, logarithmic, { extent, marks }),
    [metric, smoothing, logarithmic, extent, marks]
  );
  return (
    <figure className="labdl-chart" data-metric={metric.name}>
      <figcaption className="labdl-chart-caption">
        <span className="labdl-chart-name" title={metric.name}>
          {metric.name}
        </span>
        <Legend
          metric={metric}
          smoothing={smoothing}
          best={props.best}
          trans={trans}
        />
        <span className="labdl-chart-tools">
          <button
            type="button"
            className="labdl-chart-log"
            aria-pressed={logarithmic}
            title={trans.__('Logarithmic axis')}
            onClick={() => setLogarithmic(!logarithmic)}
          >
            {trans.__('log')}
          </button>
          <ChartMenu
            name={metric.name}
            plot={plot}
            table={() => metricTable(metric, smoothing)}
            trans={trans}
          />
        </span>
      </figcaption>
      <PlotFrame
        {...view}
        content={content}
        style={STYLE}
        height={props.height}
        logarithmic={logarithmic}
        label={description(metric, smoothing, trans)}
        read={step => linesAt(metric, smoothing, step, trans)}
        plot={plot}
        trans={trans}
      />
    </figure>
  );
});

/** Tooltip lines of a step. Values come from the stored curves, since the drawn points are thinned out. */
function linesAt(
  metric: MetricCurves,
  smoothing: Smoothing,
  step: number,
  trans: Translator
): TooltipLine[] {
  const { train, validation } = metric;
  const at = nearest(train.x, step);
  const ends = nearest(validation.x, step);
  const value = (curve: Pick<Curve, 'y'>, i: number) =>
    formatNumber(curve.y[i]);
  const smooth = { y: train.smooth(smoothing) };
  const lines: TooltipLine[] = [
    { text: trans.__('step %1', formatCount(at >= 0 ? train.x[at] : step)) }
  ];
  if (at >= 0) {
    const curve = 'train';
    lines.push({ text: trans.__('train %1', value(train, at)), curve });
    if (smoothing !== 'none') {
      lines.push({ text: trans.__('smoothed %1', value(smooth, at)), curve });
    }
  }
  if (ends >= 0) {
    const text = trans.__(
      'validation %1 (step %2)',
      value(validation, ends),
      formatCount(validation.x[ends])
    );
    lines.push({ text, curve: 'validation' });
  }
  return lines;
}

function description(
  metric: MetricCurves,
  smoothing: Smoothing,
  trans: Translator
): string {
  const { name, train, validation } = metric;
  const now = formatNumber(train.last(smoothing));
  return validation.length
    ? trans.__(
        '%1 over steps: training %2, validation %3',
        name,
        now,
        formatNumber(validation.last())
      )
    : trans.__('%1 over steps: training %2', name, now);
}
