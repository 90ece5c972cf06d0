// The buttons that pause, resume and stop a run, and keep its state.

import type { Send } from './sending';
import type { RunStatus } from './run-state';
import type { PlainCommand } from './source';
import type { RunView } from './store';
import type { Translator } from './translator';

/** The statuses in which a run takes a command; other words for the same state would be a second list. */
const ACCEPTED: Record<PlainCommand, readonly RunStatus[]> = {
  pause: ['running'],
  resume: ['paused'],
  stop: ['running', 'paused'],
  checkpoint: ['running', 'paused']
};

const ICONS: Record<PlainCommand, string> = {
  pause: 'M4 3h3v10H4zM9 3h3v10H9z',
  resume: 'M5 3l8 5-8 5z',
  stop: 'M4 4h8v8H4z',
  checkpoint: 'M7 2h2v5h3L8 11 4 7h3zM3 12h10v2H3z'
};

export interface CommandsProps {
  view: RunView;
  send: Send;
  trans: Translator;
}

export function Commands({ view, send, trans }: CommandsProps): JSX.Element {
  const labels: Record<PlainCommand, [label: string, title: string]> = {
    pause: [trans.__('Pause'), trans.__('Pause the training')],
    resume: [trans.__('Resume'), trans.__('Resume the training')],
    stop: [trans.__('Stop'), trans.__('Stop the training')],
    checkpoint: [
      trans.__('Checkpoint'),
      trans.__('Keep a checkpoint of the training now')
    ]
  };
  return (
    <div
      className="labdl-dashboard-commands"
      role="group"
      aria-label={trans.__('Training commands')}
    >
      {(Object.keys(ACCEPTED) as PlainCommand[]).map(name => (
        <button
          key={name}
          type="button"
          className="labdl-dashboard-command"
          data-command={name}
          aria-label={labels[name][1]}
          aria-busy={view.pending.includes(name)}
          title={labels[name][1]}
          disabled={
            view.pending.includes(name) || !ACCEPTED[name].includes(view.status)
          }
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
