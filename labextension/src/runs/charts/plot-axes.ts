// Axes of a chart: ranges and tick labels.

import type uPlot from 'uplot';
import { linearRange, logRange, logSplits, tickLabel } from './plot-scales';
import type { ChartColors } from './theme';
import type { XAxis } from './x-axis';

const FONT = '11px system-ui, sans-serif';

export interface AxesSettings {
  readonly axis: XAxis;
  readonly logarithmic: boolean;
  readonly colors: () => ChartColors;
  /** Label of a value beside the vertical axis. */
  readonly tick?: (value: number) => string;
  /** Minimum and maximum of the vertical axis, where they are fixed. */
  readonly range?: () => readonly [number | null, number | null] | undefined;
}

export function axesOf(
  settings: AxesSettings
): Pick<uPlot.Options, 'axes' | 'scales'> {
  const { axis: xAxis, logarithmic, colors, tick = tickLabel } = settings;
  const axis: uPlot.Axis = {
    stroke: () => colors().text,
    font: FONT,
    grid: { stroke: () => colors().grid, width: 1 },
    ticks: { stroke: () => colors().grid, width: 1, size: 4 }
  };
  return {
    scales: {
      x: { time: false, auto: false },
      y: logarithmic
        ? { distr: 3, range: logRange }
        : {
            range: (u, min, max) => {
              const [low, high] = linearRange(u, min, max);
              const [lowest, highest] = settings.range?.() ?? [null, null];
              return [lowest ?? low, highest ?? high];
            }
          }
    },
    axes: [
      {
        ...axis,
        size: 26,
        space: 60,
        values: (_u, ticks) => ticks.map(place => xAxis.tick(place))
      },
      {
        ...axis,
        size: 50,
        space: 26,
        ...(logarithmic && {
          splits: logSplits,
          filter: (_u, splits) => splits
        }),
        values: (_u, ticks) =>
          ticks.map(value => (value === null ? '' : tick(value)))
      }
    ]
  };
}
