// Sends commands of a dashboard: each is pending until an event of the run or a timeout.

import { useEffect } from 'react';
import type { CommandValue, RunCommand, RunSource } from './source';
import type { RunStore } from './store';
import type { Translator } from '../../ui/translator';

export type Send = (name: RunCommand, value?: CommandValue) => void;

/** Timeout. A run acts between two steps, so an answer may take as long as a step; then the person may retry. */
const PATIENCE = 15_000;

export function useSend(
  store: RunStore,
  source: RunSource,
  pending: readonly RunCommand[],
  trans: Translator
): Send {
  useEffect(() => {
    if (!pending.length) {
      return;
    }
    const timer = setTimeout(() => {
      for (const name of pending) {
        store.commandFailed(
          name,
          trans.__(
            'The run has not responded yet. Commands are carried out between two steps.'
          )
        );
      }
    }, PATIENCE);
    return () => clearTimeout(timer);
  }, [pending, store, trans]);

  return (name, value) => {
    const id = store.commandSent(name, value);
    source.command(name, value, id).catch((error: unknown) => {
      store.commandFailed(
        name,
        error instanceof Error ? error.message : String(error)
      );
    });
  };
}
