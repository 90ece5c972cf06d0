// Requests the difference of two graphs, again whenever one of them changes.
import { useCallback, useEffect, useState } from 'react';

import { DiffHost, Difference } from './diff-data';
import { GraphData } from '../model/graph-data';

interface Answer {
  old: GraphData;
  next: GraphData;
  difference: Difference;
}

export function useDifference(
  host: DiffHost,
  old: GraphData,
  next: GraphData
): {
  /** Null until the answer for these graphs. */
  difference: Difference | null;
  /** Error message if the request failed. */
  failure: string | null;
  again: () => void;
} {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    host.difference(old, next).then(
      difference => {
        if (isCurrent) {
          setAnswer({ old, next, difference });
          setFailure(null);
        }
      },
      (error: unknown) => {
        if (isCurrent) {
          setFailure(error instanceof Error ? error.message : String(error));
        }
      }
    );
    return () => {
      isCurrent = false;
    };
  }, [host, old, next, round]);
  const again = useCallback(() => setRound(count => count + 1), []);
  // one of other graphs names edges that these do not have
  const isOfThese = answer?.old === old && answer.next === next;
  return { difference: isOfThese ? answer.difference : null, failure, again };
}
