// Files of a run's code, loaded once on first use.

import { useEffect, useState } from 'react';
import type { RunCode, RunSource } from '../store/source';

export interface CodeState {
  /** Null while they are loading, and where the host has none. */
  readonly files: RunCode | null;
  readonly problem: string | null;
}

const NOTHING: CodeState = { files: null, problem: null };

export function useCode(source: RunSource, isWanted: boolean): CodeState {
  const [state, setState] = useState(NOTHING);
  useEffect(() => {
    if (!isWanted || !source.code) {
      setState(NOTHING);
      return;
    }
    let isOver = false;
    const set = (next: CodeState) => {
      if (!isOver) {
        setState(next);
      }
    };
    source.code().then(
      files => set({ files, problem: null }),
      // the host gives the reason, such as an unreachable server or a deleted folder
      (reason: unknown) =>
        set({
          files: null,
          problem: reason instanceof Error ? reason.message : String(reason)
        })
    );
    return () => {
      isOver = true;
    };
  }, [source, isWanted]);
  return state;
}
