// Small chart of one or a few curves over steps or seconds, with their last values above.

import { useId, useMemo, useState } from 'react';
import { nearest } from '../store/column';
import { linesContent, type Steps } from '../charts/plot-content';
import type { Color, PlotStyle } from '../charts/plot-style';
import { PlotFrame, type ChartView } from '../charts/PlotFrame';
import type { Translator } from '../../ui/translator';
import type { XAxis } from '../charts/x-axis';

const HEIGHT = 120;
const COLORS: readonly Color[] = ['train', 'validation', 'third', 'fourth'];

export interface Line {
  readonly name: string;
  /** One value for each x; null is not finite, undefined is missing. */
  readonly values: readonly (number | null | undefined)[];
}

export interface LineChartProps {
  title: string;
  hint?: string;
  /** Ascending. */
  x: readonly number[];
  lines: readonly Line[];
  isLogarithmic?: boolean;
  /** Minimum and maximum of the axis, where they are known. */
  range?: readonly [number | null, number | null];
  view: ChartView;
  /** Text of an x. */
  writeX: (x: number) => string;
  write: (value: number) => string;
  trans: Translator;
}

/** Shared properties of adjacent charts: cursor and zoom. */
export function useChartView(axis: XAxis): ChartView {
  const syncKey = useId();
  const [zoom, setZoom] = useState<Steps | null>(null);
  return { syncKey, axis, zoom, setZoom };
}

export function LineChart(props: LineChartProps): JSX.Element {
  const { title, hint, x, lines, isLogarithmic = false, write, writeX } = props;
  const count = lines.length;
  const style = useMemo<PlotStyle>(
    () => ({ kind: 'lines', colors: COLORS.slice(0, count) }),
    [count]
  );
  const content = useMemo(() => {
    const extent: Steps | null = x.length ? [x[0], x[x.length - 1]] : null;
    const curves = lines.map(({ values }) => ({
      x,
      y: values.map(value =>
        typeof value === 'number' && !(isLogarithmic && value <= 0)
          ? value
          : NaN
      )
    }));
    return linesContent(curves, { extent, marks: [] });
  }, [x, lines, isLogarithmic]);

  const text = ({ values }: Line, at: number) => {
    const value = values[at];
    return value === undefined ? '–' : value === null ? 'NaN' : write(value);
  };
  const legend = lines.map(line => ({
    name: line.name,
    now: text(line, x.length - 1)
  }));
  const withName = (name: string, value: string) =>
    count > 1 ? `${name} ${value}` : value;
  return (
    <figure className="labdl-chart labdl-line-chart" data-chart={title}>
      <figcaption title={hint}>
        <span className="labdl-line-chart-title">{title}</span>
        {legend.map(({ name, now }, place) => (
          <span key={place} data-curve={count > 1 ? COLORS[place] : undefined}>
            {withName(name, '')}
            <b>{now}</b>
          </span>
        ))}
      </figcaption>
      <PlotFrame
        {...props.view}
        content={content}
        style={style}
        height={HEIGHT}
        logarithmic={isLogarithmic}
        tick={write}
        range={props.range}
        label={`${title}: ${legend.map(({ name, now }) => withName(name, now)).join(', ')}`}
        read={place => {
          const at = nearest(x, place);
          return [
            { text: writeX(x[at] ?? place) },
            ...lines.map((line, index) => ({
              text: withName(line.name, text(line, at)),
              curve: COLORS[index]
            }))
          ];
        }}
        trans={props.trans}
      />
    </figure>
  );
}
