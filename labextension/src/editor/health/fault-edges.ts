// Edges along which non-finite values spread from their origin.
import { useMemo, useSyncExternalStore } from 'react';

import { useEditorContext } from '../context';
import { Fault } from './health-store';
import { GraphData } from '../model/graph-data';
import { endIn } from '../canvas/scene';

const NONE: ReadonlySet<string> = new Set();

/** Edges of a drawn graph; empty for gradients and updates, which stay in their layer. */
export function faultEdges(
  graph: GraphData,
  fault: Fault | null
): ReadonlySet<string> {
  if (!fault || fault.what === 'gradient' || fault.what === 'update') {
    return NONE;
  }
  const leaving = Object.entries(graph.edges).filter(
    ([, { source, source_port }]) => endIn(source, source_port)[0] === fault.id
  );
  return new Set(leaving.map(([id]) => id));
}

export function useFaultEdges(graph: GraphData): ReadonlySet<string> {
  const { store } = useEditorContext().health;
  const fault = useSyncExternalStore(store.subscribe, store.fault);
  return useMemo(() => faultEdges(graph, fault), [graph, fault]);
}
