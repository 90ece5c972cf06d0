// Ranges and ticks of the axes of charts.

import type uPlot from 'uplot';

/** Maximum number of ticks on a logarithmic axis. */
const TICKS = 8;

export function linearRange(
  _u: uPlot,
  min: number | null,
  max: number | null
): uPlot.Range.MinMax {
  if (min === null || max === null) {
    return [0, 1];
  }
  const room = (max - min) * 0.06 || Math.abs(max) * 0.1 || 0.5;
  // Non-negative metrics, such as a loss or an accuracy, do not get an axis below zero.
  return [min >= 0 ? Math.max(0, min - room) : min - room, max + room];
}

export function logRange(
  _u: uPlot,
  min: number | null,
  max: number | null
): uPlot.Range.MinMax {
  if (min === null || max === null || min <= 0) {
    return [0.1, 1];
  }
  const room = Math.max(1.2, (max / min) ** 0.06);
  return [min / room, max * room];
}

export function tickLabel(tick: number): string {
  const size = Math.abs(tick);
  return tick === 0
    ? '0'
    : size >= 1e-3 && size < 1e5
      ? String(Number(tick.toPrecision(6)))
      : tick
          .toExponential()
          .replace('e+', 'e')
          .replace(/\.\d{4,}/, part => part.slice(0, 3));
}

/**
 * Powers of ten, with twos and fives where there is room. uPlot's own splits do not terminate below about 1e-8, where
 * the losses of two backends differ. A range of less than a decade without any of these gets three even ticks.
 */
export function logSplits(
  _u: uPlot,
  _axis: number,
  min: number,
  max: number
): number[] {
  const from = Math.floor(Math.log10(min));
  const to = Math.ceil(Math.log10(max));
  const parts = to - from <= 2 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil((to - from) / TICKS));
  const found = [];
  for (let power = from; power <= to; power += every) {
    found.push(...parts.map(part => Number(`${part}e${power}`)));
  }
  const inside = found.filter(tick => tick >= min && tick <= max);
  if (inside.length > 1) {
    return inside;
  }
  const even = [0.1, 0.5, 0.9].map(part => min + part * (max - min));
  return [...new Set(even.map(tick => Number(tick.toPrecision(2))))];
}
