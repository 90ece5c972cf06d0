// Export of a chart's numbers as a CSV table.

import type { Curve } from '../store/decimation';
import type { MetricCurves } from '../store/metrics';
import type { Smoothing } from '../store/smoothing';

export interface Column {
  readonly name: string;
  readonly curve: Curve;
}

/** One row for each step of any curve; the cell of a curve without that step is empty. */
export function csv(columns: readonly Column[]): string {
  const rows = new Map<number, string[]>();
  columns.forEach(({ curve }, place) => {
    for (let i = 0; i < curve.x.length; i++) {
      const row = rows.get(curve.x[i]) ?? columns.map(() => '');
      // NaN is written as text, since an empty cell means "no value"
      row[place] = String(curve.y[i]);
      rows.set(curve.x[i], row);
    }
  });
  const lines = [...rows]
    .sort(([a], [b]) => a - b)
    .map(([step, row]) => [step, ...row].join(','));
  return [
    ['step', ...columns.map(({ name }) => quoted(name))].join(','),
    ...lines,
    ''
  ].join('\r\n');
}

/** Table of all points of a metric that are in memory. */
export function metricTable(
  { name, train, validation }: MetricCurves,
  smoothing: Smoothing
): Column[] {
  const smooth = {
    name: `${name} (smoothed)`,
    curve: { x: train.x, y: train.smooth(smoothing) }
  };
  return [
    { name, curve: train },
    ...(smoothing === 'none' ? [] : [smooth]),
    ...(validation.length ? [{ name: `val_${name}`, curve: validation }] : [])
  ];
}

/** Quoted name; a prefix prevents that a spreadsheet evaluates it as a formula. */
function quoted(name: string): string {
  const safe = /^[=+\-@\t\r]/.test(name) ? `'${name}` : name;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}
