// Runs of a source as React state.

import { useEffect, useState } from 'react';
import type { Runs, RunsSource } from './runs-source';

export interface RunsNow {
  /** Null until the first answer. */
  runs: Runs | null;
  trouble: string | null;
}

export function useRuns(source: RunsSource): RunsNow {
  const [now, setNow] = useState<RunsNow>({ runs: null, trouble: null });
  useEffect(() => {
    setNow({ runs: null, trouble: null });
    return source.subscribe({
      runs: runs => setNow({ runs, trouble: null }),
      trouble: trouble => setNow(before => ({ ...before, trouble }))
    });
  }, [source]);
  return now;
}
