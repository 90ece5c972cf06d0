// React hook for the statistics of a data set; asks again until all samples were read.

import { useEffect, useState } from 'react';
import type { StatisticsAnswer } from '../../api/data';
import { errorText } from '../error-text';
import type { DataHost } from '../host';

const INTERVAL = 700;

export interface Statistics {
  statistics: StatisticsAnswer | null;
  problem: string | null;
  retry: () => void;
}

/** Asks while `isShown`; what was read before stays. */
export function useStatistics(host: DataHost, isShown: boolean): Statistics {
  const [statistics, setStatistics] = useState<StatisticsAnswer | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  const isComplete = statistics?.complete === true;
  useEffect(() => {
    if (!isShown || isComplete) {
      return;
    }
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout>;
    const ask = async () => {
      try {
        const answer = await host.statistics(signal);
        if (signal.aborted) {
          return;
        }
        setStatistics(answer);
        setProblem(null);
        if (!answer.complete) {
          timer = setTimeout(() => void ask(), INTERVAL);
        }
      } catch (error) {
        if (!signal.aborted) {
          setProblem(errorText(error));
        }
      }
    };
    void ask();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [host, isShown, isComplete, attempt]);
  return { statistics, problem, retry: () => setAttempt(attempt + 1) };
}
