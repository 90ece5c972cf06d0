// Loss of a run as a tiny line chart.

import { lineOf } from '../charts/Sparkline';
import type { Brief } from './runs-source';

export function RunSparkline({ run }: { run: Brief }): JSX.Element | null {
  return run.spark.length ? (
    <svg
      className="labdl-runs-spark"
      viewBox="0 0 60 14"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path
        d={lineOf(
          run.spark.map(value => value ?? NaN),
          false
        )}
      />
    </svg>
  ) : null;
}
