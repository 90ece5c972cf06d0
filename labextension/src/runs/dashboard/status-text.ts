// Texts for the status of a run.

import type { RunStatus } from '../store/run-state';
import type { Translator } from '../../ui/translator';

/** Status of a run in a list, which may also have an unreadable file. */
export type AnyStatus = RunStatus | 'unreadable';

export function statusLabel(status: AnyStatus, trans: Translator): string {
  const words: Record<AnyStatus, string> = {
    waiting: trans.__('Waiting'),
    running: trans.__('Running'),
    paused: trans.__('Paused'),
    stopping: trans.__('Stopping…'),
    finished: trans.__('Finished'),
    stopped: trans.__('Stopped'),
    failed: trans.__('Failed'),
    lost: trans.__('Lost'),
    unreadable: trans.__('Unreadable')
  };
  return words[status] ?? status;
}
