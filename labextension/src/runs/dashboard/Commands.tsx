// Buttons that pause, resume, step, stop and branch a run, and save its state.

import { Branch } from './Branch';
import { CommandButton } from './CommandButton';
import type { Send } from '../store/send-command';
import type { RunStatus } from '../store/run-state';
import type { PlainCommand } from '../store/source';
import type { RunView } from '../store/store';
import type { Translator } from '../../ui/translator';

/** Statuses in which a run accepts a command. */
const ACCEPTED: Record<PlainCommand, readonly RunStatus[]> = {
  pause: ['running'],
  resume: ['paused'],
  step: ['paused'],
  stop: ['running', 'paused'],
  checkpoint: ['running', 'paused']
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
    step: [trans.__('Step'), trans.__('Run one more step')],
    stop: [trans.__('Stop'), trans.__('Stop the training')],
    checkpoint: [
      trans.__('Checkpoint'),
      trans.__('Save a checkpoint of the training now')
    ]
  };
  return (
    <div
      className="labdl-dashboard-commands"
      role="group"
      aria-label={trans.__('Training commands')}
    >
      {(Object.keys(ACCEPTED) as PlainCommand[]).map(name => (
        <CommandButton
          key={name}
          name={name}
          label={labels[name][0]}
          title={labels[name][1]}
          isPending={view.pending.includes(name)}
          isEnabled={ACCEPTED[name].includes(view.status)}
          onClick={() => send(name)}
        />
      ))}
      <Branch view={view} send={send} trans={trans} />
    </div>
  );
}
