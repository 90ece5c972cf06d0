// React hook for the transforms on offer, requested when they are first shown.

import { useEffect, useState } from 'react';
import type { TransformInfo } from '../../api/data';
import { errorText } from '../error-text';
import type { DataHost } from '../host';

export function useTransforms(
  host: DataHost,
  isShown: boolean
): {
  transforms: TransformInfo[] | null;
  problem: string | null;
  retry: () => void;
} {
  const [transforms, setTransforms] = useState<TransformInfo[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  const isNeeded = isShown && transforms === null;
  useEffect(() => {
    if (!isNeeded) {
      return;
    }
    let isOver = false;
    host.transforms().then(
      found => {
        if (!isOver) {
          setTransforms(found);
          setProblem(null);
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
  }, [host, isNeeded, attempt]);
  return { transforms, problem, retry: () => setAttempt(attempt + 1) };
}
