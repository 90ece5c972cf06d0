// The files of a run's code, read once when they are wanted.

import { useEffect, useState } from 'react';
import type { RunCode, RunSource } from '../store/source';

export interface CodeState {
  /** Null while they are on the way, and where the host has none. */
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
      // the host says why: a server that cannot be reached, a folder that has gone
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
