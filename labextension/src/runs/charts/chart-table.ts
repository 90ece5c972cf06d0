// The numbers of a chart as a table in CSV.

import type { Curve } from '../store/decimation';
import type { MetricCurves } from '../store/metrics';
import type { Smoothing } from '../store/smoothing';

export interface Column {
  readonly name: string;
  readonly curve: Curve;
}

/** A row for each step that any of the curves has; what a curve lacks there is left empty. */
export function csv(columns: readonly Column[]): string {
  const rows = new Map<number, string[]>();
  columns.forEach(({ curve }, place) => {
    for (let i = 0; i < curve.x.length; i++) {
      const row = rows.get(curve.x[i]) ?? columns.map(() => '');
      // NaN is written so, since an empty cell is no value
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

/** All points that the page keeps of a metric. */
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

/** A name that a spreadsheet takes for a formula is no longer one. */
function quoted(name: string): string {
  const safe = /^[=+\-@\t\r]/.test(name) ? `'${name}` : name;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}
