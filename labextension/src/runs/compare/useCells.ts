// Actions on runs from the table, as far as the host offers them.

import { useMemo, useState } from 'react';
import type { Cells } from './cells';
import type { Brief, RunsSource } from './runs-source';

export interface CellActions {
  cells: Cells;
  /** Run whose deletion waits for confirmation. */
  removed: Brief | null;
  remove: () => Promise<void>;
  keep: () => void;
  trouble: string | null;
  forget: () => void;
}

export function useCells(source: RunsSource): CellActions {
  const [renamed, setRenamed] = useState<string | null>(null);
  const [removed, setRemoved] = useState<Brief | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const cells = useMemo(
    (): Cells => ({
      open: source.open && (run => source.open?.(run.path)),
      openFolder: source.openFolder?.bind(source),
      remove: source.remove && (run => !run.alive && setRemoved(run)),
      rename: source.write && (run => setRenamed(run.path)),
      write:
        source.write &&
        (async (run, words, before) =>
          (await source.write?.(run.path, words, before)) ?? null),
      renamed,
      endRename: () => setRenamed(null)
    }),
    [source, renamed]
  );
  const remove = async () => {
    setRemoved(null);
    try {
      await source.remove?.(removed?.path ?? '');
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : `${error}`);
    }
  };
  return {
    cells,
    removed,
    remove,
    keep: () => setRemoved(null),
    trouble,
    forget: () => setTrouble(null)
  };
}
