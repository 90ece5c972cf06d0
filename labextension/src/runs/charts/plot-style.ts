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
    points: { show: lonely },
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
      { stroke: () => colors().train, width: 2, points: { show: lonely } },
      {
        stroke: () => colors().validation,
        width: 2,
        points: {
          show: (u, series, first, last) =>
            ROOM * countDefined(u.data[series], first, last) <=
            u.over.clientWidth,
          size: 7,
          fill: () => colors().validation
        }
      }
    ],
    bands: [{ series: [2, 1], fill: () => faint(colors().train) }]
  };
}

/** Whether only one value is defined: a line needs two points, so a single one gets a marker. */
function lonely(
  u: uPlot,
  series: number,
  first: number,
  last: number
): boolean {
  return countDefined(u.data[series], first, last) === 1;
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
