// React hook for one sample in a large size.

import { useEffect, useState } from 'react';
import type { SampleView } from '../../api/data';
import { errorText } from '../error-text';
import type { DataHost } from '../host';

const SIZE = 512;

export function useSample(
  host: DataHost,
  position: number,
  label: string | null
): { sample: SampleView | undefined; problem: string | null } {
  const [sample, setSample] = useState<SampleView | undefined>();
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const query = { start: position, count: 1, label, size: SIZE };
    host.samples(query, controller.signal).then(
      answer => {
        if (!controller.signal.aborted) {
          setSample(answer.samples[0]);
          setProblem(null);
        }
      },
      (error: unknown) => {
        if (!controller.signal.aborted) {
          setProblem(errorText(error));
        }
      }
    );
    return () => controller.abort();
  }, [host, position, label]);
  return { sample, problem };
}
