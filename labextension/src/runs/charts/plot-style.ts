// Appearance of a chart's columns: a metric with its range, lines, or stacked areas.

import uPlot from 'uplot';
import { faint, type ChartColors } from './theme';

export type Color = 'train' | 'validation' | 'third' | 'fourth';

export type PlotStyle =
  | { readonly kind: 'metric' }
  | {
      readonly kind: 'lines' | 'steps' | 'stack';
      readonly colors: readonly Color[];
    };

type Look = Pick<uPlot.Options, 'series' | 'bands'>;

/** Points of epochs are marked if there are at least this many pixels for each. */
const ROOM = 14;

export function lookOf(style: PlotStyle, colors: () => ChartColors): Look {
  if (style.kind === 'metric') {
    return metricLook(colors);
  }
  const isStack = style.kind === 'stack';
  const line = (name: Color, place: number): uPlot.Series => ({
    stroke: () => colors()[name],
    width: isStack ? 1 : 1.5,
    // the lowest area of a stack extends to the axis, the others to the one below
    fill: isStack && !place ? () => faint(colors()[name]) : undefined,
    points: { show: false, filter: isolated },
    ...(style.kind === 'steps'
      ? { paths: uPlot.paths.stepped?.({ align: 1 }) }
      : {})
  });
  return {
    series: [{}, ...style.colors.map(line)],
    bands: isStack
      ? style.colors.slice(1).map((name, place) => ({
          series: [place + 2, place + 1],
          fill: () => faint(colors()[name])
        }))
      : undefined
  };
}

function metricLook(colors: () => ChartColors): Look {
  const edge: uPlot.Series = { width: 0, points: { show: false } };
  return {
    series: [
      {},
      edge,
      edge,
      {
        stroke: () => colors().train,
        width: 1,
        alpha: 0.35,
        points: { show: false }
      },
      {
        stroke: () => colors().train,
        width: 2,
        points: { show: false, filter: isolated }
      },
      {
        stroke: () => colors().validation,
        width: 2,
        points: {
          show: (u, series, first, last) =>
            ROOM * countDefined(u.data[series], first, last) <=
            u.over.clientWidth,
          filter: (u, series, isShown) =>
            isShown ? null : isolated(u, series),
          size: 7,
          fill: () => colors().validation
        }
      }
    ],
    bands: [{ series: [2, 1], fill: () => faint(colors().train) }]
  };
}

/** Points that no line connects with others, which are marked: single values, and those between gaps. */
function isolated(u: uPlot, series: number): number[] | null {
  const points = isolatedPoints(u.data[series]);
  return points.length ? points : null;
}

/** Indices of the values without a neighbor: null is a gap, undefined a step of another column. */
export function isolatedPoints(
  values: ArrayLike<number | null | undefined>
): number[] {
  const isolated: number[] = [];
  let [last, length] = [0, 0];
  for (let i = 0; i <= values.length; i++) {
    const value = i < values.length ? values[i] : null;
    if (value === null) {
      if (length === 1) {
        isolated.push(last);
      }
      length = 0;
    } else if (value !== undefined) {
      [last, length] = [i, length + 1];
    }
  }
  return isolated;
}

function countDefined(
  values: ArrayLike<number | null | undefined>,
  first: number,
  last: number
): number {
  let defined = 0;
  for (let i = first; i <= last; i++) {
    defined += typeof values[i] === 'number' ? 1 : 0;
  }
  return defined;
}
