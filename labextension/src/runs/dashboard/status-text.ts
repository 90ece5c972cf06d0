// What the states of runs are called.

import type { RunStatus } from '../store/run-state';
import type { Translator } from '../../ui/translator';

/** Of a run in a list also that its file makes no sense. */
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
    lost: trans.__('Ended'),
    unreadable: trans.__('Unreadable')
  };
  return words[status] ?? status;
}
