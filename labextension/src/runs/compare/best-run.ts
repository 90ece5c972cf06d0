// Best run of several.

import type { Brief, Group } from './runs-source';

/** Whether high values of a metric are better. */
export function isBetterHigh(
  runs: readonly Brief[],
  metric: string,
  mode: Group['mode']
): boolean {
  const plain = metric.replace(/^val_/, '');
  return mode
    ? mode === 'max'
    : runs.some(
        ({ higher }) => higher.includes(metric) || higher.includes(plain)
      );
}

/** Run with the best value of a metric. Low is better unless the sweep or the metric says otherwise. */
export function bestTrial(
  runs: readonly Brief[],
  metric: string | null,
  mode: Group['mode']
): Brief | null {
  if (!metric) {
    return null;
  }
  const isHigh = (run: Brief) => isBetterHigh([run], metric, mode);
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
