// The buttons that pause, resume and stop a run.

import { useEffect } from 'react';
import type { RunStatus } from './run-state';
import type { RunCommand, RunSource } from './source';
import type { RunStore, RunView } from './store';
import type { Translator } from './translator';

/** The statuses in which a run takes a command; other words for the same state would be a second list. */
const ACCEPTED: Record<RunCommand, readonly RunStatus[]> = {
  pause: ['running'],
  resume: ['paused'],
  stop: ['running', 'paused']
};

const ICONS: Record<RunCommand, string> = {
  pause: 'M4 3h3v10H4zM9 3h3v10H9z',
  resume: 'M5 3l8 5-8 5z',
  stop: 'M4 4h8v8H4z'
};

/** A run acts between two steps, so an answer may take as long as a step; after this the person may try again. */
const PATIENCE = 15_000;

export interface CommandsProps {
  store: RunStore;
  source: RunSource;
  view: RunView;
  trans: Translator;
}

export function Commands({
  store,
  source,
  view,
  trans
}: CommandsProps): JSX.Element {
  const { pending } = view;
  useEffect(() => {
    if (!pending) {
      return;
    }
    const timer = setTimeout(() => {
      store.commandFailed(
        pending,
        trans.__('The run has not answered yet. It acts between two steps.')
      );
    }, PATIENCE);
    return () => clearTimeout(timer);
  }, [pending, store, trans]);

  const send = (name: RunCommand) => {
    store.commandSent(name);
    source.command(name).catch((error: unknown) => {
      store.commandFailed(
        name,
        error instanceof Error ? error.message : String(error)
      );
    });
  };
  const labels: Record<RunCommand, [label: string, title: string]> = {
    pause: [trans.__('Pause'), trans.__('Pause the training')],
    resume: [trans.__('Resume'), trans.__('Resume the training')],
    stop: [trans.__('Stop'), trans.__('Stop the training')]
  };
  return (
    <div
      className="labdl-dashboard-commands"
      role="group"
      aria-label={trans.__('Training commands')}
    >
      {(Object.keys(ACCEPTED) as RunCommand[]).map(name => (
        <button
          key={name}
          type="button"
          className="labdl-dashboard-command"
          data-command={name}
          aria-label={labels[name][1]}
          aria-busy={pending === name}
          title={labels[name][1]}
          disabled={pending !== null || !ACCEPTED[name].includes(view.status)}
          onClick={() => send(name)}
        >
          <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
            <path d={ICONS[name]} fill="currentColor" />
          </svg>
          <span>{labels[name][0]}</span>
        </button>
      ))}
    </div>
  );
}
