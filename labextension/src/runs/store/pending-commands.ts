// Commands that were sent, and the answers of the run.

import type { CommandValue, RunCommand, RunEvent } from './source';

const STATUS: readonly RunEvent['kind'][] = ['status', 'end'];

/** Events that acknowledge a command in runs without `command` events (version 1). */
const ANSWERS: Record<RunCommand, readonly RunEvent['kind'][]> = {
  pause: STATUS,
  resume: STATUS,
  step: STATUS,
  stop: STATUS,
  checkpoint: ['checkpoint', 'problem', 'end'],
  learning_rate: ['learning_rate', 'end'],
  add_epochs: ['epochs', 'end'],
  branch: ['branch', 'problem', 'end'],
  save_to: ['end']
};

interface PendingCommand {
  readonly id: string;
  readonly name: RunCommand;
  readonly value: string;
  /** Whether an answer is still expected. */
  isPending: boolean;
}

export class PendingCommands {
  /** Names of the commands whose answer is pending. */
  pending: readonly RunCommand[] = [];
  /** Error of the last command, or the reason why the run refused it. */
  trouble: string | null = null;

  private _sent: PendingCommand[] = [];
  private _answers = false;

  /** Records a command that is about to be sent; returns its id, which a repeated command without an answer keeps. */
  sent(name: RunCommand, value?: CommandValue): string {
    const spelled = JSON.stringify(value ?? null);
    const known = this._sent.find(
      each => each.name === name && each.value === spelled
    );
    const id = known?.id ?? newIdentity();
    this._sent = this._sent.filter(each => each.name !== name);
    this._sent.push({ id, name, value: spelled, isPending: true });
    this.trouble = null;
    this._update();
    return id;
  }

  /** Records that a command failed or timed out; returns whether its answer was pending. */
  failed(name: RunCommand, trouble: string): boolean {
    const sent = this._sent.find(each => each.name === name && each.isPending);
    if (sent) {
      sent.isPending = false;
      this.trouble = trouble;
      this._update();
    }
    return sent !== undefined;
  }

  apply(event: RunEvent): void {
    if (event.kind === 'reset') {
      this._answers = false;
    } else if (event.kind === 'start') {
      this._answers = (event.version ?? 1) >= 2;
    } else if (event.kind === 'command') {
      const wasSent = this._sent.some(({ id }) => id === event.id);
      this._removeAnswered(({ id }) => id === event.id);
      if (wasSent) {
        this.trouble =
          event.status === 'refused' ? (event.message ?? '') : null;
      }
    } else if (event.kind === 'end') {
      this._removeAnswered(() => true);
    } else if (!this._answers && !isAutomatic(event)) {
      this._removeAnswered(({ name }) => ANSWERS[name].includes(event.kind));
      this.trouble = STATUS.includes(event.kind) ? null : this.trouble;
    }
  }

  private _removeAnswered(isAnswered: (sent: PendingCommand) => boolean): void {
    const waiting = this._sent.filter(sent => !isAnswered(sent));
    if (waiting.length < this._sent.length) {
      this._sent = waiting;
      this.trouble = null;
      this._update();
    }
  }

  private _update(): void {
    this.pending = this._sent
      .filter(({ isPending }) => isPending)
      .map(({ name }) => name);
  }
}

function isAutomatic(event: RunEvent): boolean {
  return event.kind === 'checkpoint' && event.automatic === true;
}

/** Random id. Pages without a secure connection have no `randomUUID`. */
function newIdentity(): string {
  if (typeof crypto !== 'undefined' && 'randomUUID' in crypto) {
    return crypto.randomUUID();
  }
  const digits = () => Math.random().toString(16).slice(2, 14).padEnd(12, '0');
  return `${Date.now().toString(16)}-${digits()}-${digits()}`;
}
