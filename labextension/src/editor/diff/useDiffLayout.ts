// Common layout of two models; the previous one stays until the host has answered.
import { useMemo, useRef } from 'react';

import { isLayoutOf, useLayout } from '../canvas/useLayout';
import { GraphData, LayerTable } from '../model/graph-data';
import { DiffHost, Difference } from './diff-data';
import { DiffLayout, diffLayout, diffScene } from './diff-layout';

export function useDiffLayout(
  host: DiffHost,
  old: GraphData,
  next: GraphData,
  difference: Difference,
  layers: LayerTable,
  toggled: ReadonlySet<string>,
  onFailure: (message: string) => void
): DiffLayout | null {
  const joint = useMemo(
    () => diffScene(old, next, difference, layers, toggled),
    [old, next, difference, layers, toggled]
  );
  const answer = useLayout(host, joint.request, onFailure);
  const last = useRef<DiffLayout | null>(null);
  return useMemo(() => {
    if (isLayoutOf(answer, joint.request)) {
      last.current = diffLayout(old, next, joint, answer.places);
    }
    return last.current;
  }, [old, next, joint, answer]);
}
