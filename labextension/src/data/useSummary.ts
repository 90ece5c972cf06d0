// React hook for the summary of a data set.

import { useEffect, useState } from 'react';
import type { DatasetSummary } from '../api/data';
import { errorText } from './error-text';
import type { DataHost } from './host';

/** A summary, and the host that it came from. */
export interface Shown {
  host: DataHost;
  summary: DatasetSummary;
}

/** The summary of the last host stays until that of the next one is there. */
export function useSummary(host: DataHost): {
  shown: Shown | null;
  problem: string | null;
  retry: () => void;
} {
  const [shown, setShown] = useState<Shown | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isOver = false;
    setProblem(null);
    host.summary().then(
      summary => {
        if (!isOver) {
          setShown({ host, summary });
        }
      },
      (error: unknown) => {
        if (!isOver) {
          setProblem(errorText(error));
        }
      }
    );
    return () => {
      isOver = true;
    };
  }, [host, attempt]);
  return { shown, problem, retry: () => setAttempt(attempt + 1) };
}
