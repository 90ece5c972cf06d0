// Small chart of one to three lines over the steps: heading with the current value, plot, and tooltip.

import { memo, useMemo, useRef } from 'react';
import { ChartMenu } from './ChartMenu';
import { nearest } from '../store/column';
import type { Curve } from '../store/decimation';
import { formatCount } from '../../ui/number-format';
import type { Mark } from '../store/marks';
import type { Plot } from './plot';
import {
  linesContent,
  stackContent,
  stepsContent,
  type Steps
} from './plot-content';
import type { Color, PlotStyle } from './plot-style';
import { PlotFrame, type ChartView } from './PlotFrame';
import type { Translator } from '../../ui/translator';

const CONTENTS = {
  lines: linesContent,
  steps: stepsContent,
  stack: stackContent
};

export interface Line {
  readonly name: string;
  readonly color: Color;
  readonly curve: Curve;
}

export interface SmallChartProps {
  title: string;
  /** Tooltip that explains the chart. */
  hint?: string;
  kind: keyof typeof CONTENTS;
  lines: readonly Line[];
  /** Current value; omitted where each line has a name. */
  now?: string;
  write: (value: number) => string;
  /** Short label of a tick beside the vertical axis. */
  tick?: (value: number) => string;
  /** Text while there is nothing to draw. */
  empty: string;
  view: ChartView;
  extent: Steps | null;
  marks: readonly Mark[];
  height: number;
  range?: readonly [number | null, number | null];
  trans: Translator;
}

export const SmallChart = memo(function SmallChart(
  props: SmallChartProps
): JSX.Element {
  const { title, hint, kind, lines, write, extent, marks, trans } = props;
  const plot = useRef<Plot | null>(null);
  const style = useMemo<PlotStyle>(
    () => ({ kind, colors: lines.map(({ color }) => color) }),
    [kind, lines]
  );
  const content = useMemo(() => {
    const curves = lines.map(({ curve }) => curve);
    const frame = { extent, marks };
    return CONTENTS[kind](curves, frame);
  }, [kind, lines, extent, marks]);
  const isEmpty = lines.every(({ curve }) => !curve.x.length);
  const last = ({ x, y }: Curve) => (x.length ? write(y[x.length - 1]) : '–');
  const told =
    props.now ?? lines.map(l => `${l.name} ${last(l.curve)}`).join(', ');

  const read = (step: number) => {
    const at = lines.map(({ curve }) => nearest(curve.x, step));
    const first = lines[0].curve.x[at[0]];
    return [
      { text: trans.__('step %1', formatCount(first ?? step)) },
      ...lines.flatMap(({ name, color, curve }, i) =>
        at[i] < 0
          ? []
          : [
              {
                text: trans.__('%1: %2', name, write(curve.y[at[i]])),
                curve: color
              }
            ]
      )
    ];
  };
  return (
    <figure className="labdl-chart labdl-chart-small" data-chart={title}>
      <figcaption className="labdl-chart-caption" title={hint}>
        <span className="labdl-chart-name" title={hint ?? title}>
          {title}
        </span>
        {props.now !== undefined && (
          <span className="labdl-chart-now">{props.now}</span>
        )}
        {lines.length > 1 && (
          <span className="labdl-chart-legend">
            {lines.map(({ name, color }) => (
              <span
                key={name}
                className="labdl-legend-entry"
                data-curve={color}
                title={hint ?? name}
              >
                {name}
              </span>
            ))}
          </span>
        )}
        <span className="labdl-chart-tools">
          <ChartMenu
            name={title}
            plot={plot}
            table={() => [...lines]}
            trans={trans}
          />
        </span>
      </figcaption>
      {isEmpty ? (
        <p className="labdl-chart-empty" style={{ height: props.height }}>
          {props.empty}
        </p>
      ) : (
        <PlotFrame
          {...props.view}
          content={content}
          style={style}
          height={props.height}
          tick={props.tick ?? write}
          range={props.range}
          label={trans.__('%1 over steps: %2', title, told)}
          read={read}
          plot={plot}
          trans={trans}
        />
      )}
    </figure>
  );
});
