// Requests the difference of two graphs, again whenever one of them changes.
import { useCallback, useEffect, useState } from 'react';

import { DiffHost, Difference } from './diff-data';
import { GraphData } from '../model/graph-data';

export function useDifference(
  host: DiffHost,
  old: GraphData,
  next: GraphData
): {
  /** Null before the first answer. */
  difference: Difference | null;
  /** Error message if the request failed. */
  failure: string | null;
  again: () => void;
} {
  const [difference, setDifference] = useState<Difference | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setDifference(null);
    host.difference(old, next).then(
      found => {
        if (isCurrent) {
          setDifference(found);
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
  return { difference, failure, again };
}
