// Which commands are on their way, and what the run has answered.

import type { CommandValue, RunCommand, RunEvent } from './source';

const STATUS: readonly RunEvent['kind'][] = ['status', 'end'];

/** The events by which runs that do not answer commands (version 1 of the events) acknowledge them. */
const ANSWERS: Record<RunCommand, readonly RunEvent['kind'][]> = {
  pause: STATUS,
  resume: STATUS,
  step: STATUS,
  stop: STATUS,
  checkpoint: ['checkpoint', 'problem', 'end'],
  learning_rate: ['learning_rate', 'end'],
  add_epochs: ['epochs', 'end'],
  branch: ['branch', 'problem', 'end']
};

interface PendingCommand {
  readonly id: string;
  readonly name: RunCommand;
  readonly value: string;
  /** Whether somebody still waits for the answer. */
  isPending: boolean;
}

export class PendingCommands {
  /** The commands that are waited for, by their names. */
  pending: readonly RunCommand[] = [];
  /** Why the last command did not reach the run, or what the run had against it. */
  trouble: string | null = null;

  private _sent: PendingCommand[] = [];
  private _answers = false;

  /** The identity for a command that is about to be sent: the same as before for one that was not answered. */
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

  /** A command failed, or has waited for too long; returns whether anybody waited for it. */
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
      this._answered(({ id }) => id === event.id);
      if (wasSent) {
        this.trouble =
          event.status === 'refused' ? (event.message ?? '') : null;
      }
    } else if (event.kind === 'end') {
      this._answered(() => true);
    } else if (!this._answers) {
      this._answered(({ name }) => ANSWERS[name].includes(event.kind));
      this.trouble = STATUS.includes(event.kind) ? null : this.trouble;
    }
  }

  private _answered(isAnswered: (sent: PendingCommand) => boolean): void {
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

/** Pages that were not loaded over a safe connection have no `randomUUID`. */
function newIdentity(): string {
  if (typeof crypto !== 'undefined' && 'randomUUID' in crypto) {
    return crypto.randomUUID();
  }
  const digits = () => Math.random().toString(16).slice(2, 14).padEnd(12, '0');
  return `${Date.now().toString(16)}-${digits()}-${digits()}`;
}
