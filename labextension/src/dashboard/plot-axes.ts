// The axes of a chart: their ranges, and what their ticks say.

import uPlot from 'uplot';
import type { ChartColours } from './theme';
import type { XAxis } from './x-axis';

const FONT = '11px system-ui, sans-serif';

export interface AxesSettings {
  readonly axis: XAxis;
  readonly logarithmic: boolean;
  readonly colours: () => ChartColours;
  /** A value beside the vertical axis. */
  readonly tick?: (value: number) => string;
  /** The lowest and the highest value of the vertical axis, where they are fixed. */
  readonly range?: () => readonly [number | null, number | null] | undefined;
}

export function axesOf(
  settings: AxesSettings
): Pick<uPlot.Options, 'axes' | 'scales'> {
  const { axis: xAxis, logarithmic, colours, tick = tickLabel } = settings;
  const axis: uPlot.Axis = {
    stroke: () => colours().text,
    font: FONT,
    grid: { stroke: () => colours().grid, width: 1 },
    ticks: { stroke: () => colours().grid, width: 1, size: 4 }
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
        values: (_u, ticks) =>
          ticks.map(value => (value === null ? '' : tick(value)))
      }
    ]
  };
}

function linearRange(
  _u: uPlot,
  min: number | null,
  max: number | null
): [number, number] {
  if (min === null || max === null) {
    return [0, 1];
  }
  const room = (max - min) * 0.06 || Math.abs(max) * 0.1 || 0.5;
  // Figures that cannot be negative, such as a loss or an accuracy, do not get an axis below zero.
  return [min >= 0 ? Math.max(0, min - room) : min - room, max + room];
}

function logRange(
  _u: uPlot,
  min: number | null,
  max: number | null
): [number, number] {
  if (min === null || max === null || min <= 0) {
    return [0.1, 1];
  }
  const room = (max / min) ** 0.06 > 1 ? (max / min) ** 0.06 : 1.2;
  return [min / room, max * room];
}

function tickLabel(tick: number): string {
  return Math.abs(tick) >= 1e-3 && Math.abs(tick) < 1e5
    ? String(Number(tick.toPrecision(6)))
    : figureOrZero(tick);
}

function figureOrZero(tick: number): string {
  return tick === 0
    ? '0'
    : Number(tick.toPrecision(6)).toExponential().replace('e+', 'e');
}
