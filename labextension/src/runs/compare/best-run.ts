// Best run of several.

import type { Brief, Group } from './runs-source';

/** Run with the best value of a metric. Low is better unless the sweep or the metric says otherwise. */
export function bestTrial(
  runs: readonly Brief[],
  metric: string | null,
  mode: Group['mode']
): Brief | null {
  if (!metric) {
    return null;
  }
  const plain = metric.replace(/^val_/, '');
  const isHigh = (run: Brief) =>
    mode ? mode === 'max' : run.higher.includes(metric) || run.higher.includes(plain); // prettier-ignore
  let found: Brief | null = null;
  let least = Infinity;
  for (const run of runs) {
    const value = run.best[metric]?.value ?? run.figures[metric];
    if (typeof value === 'number' && (isHigh(run) ? -value : value) < least) {
      [found, least] = [run, isHigh(run) ? -value : value];
    }
  }
  return found;
}
