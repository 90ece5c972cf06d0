// Where the events of a run come from: a host (JupyterLab, a widget) implements RunSource. docs/runs.md describes the events.

import type { CommandValue, RunCommand, RunEvent } from '../../api/events';

export type * from '../../api/events';

/** Commands with a number: the new rate, and how many epochs more. */
export type ValuedCommand = Extract<RunCommand, 'learning_rate' | 'add_epochs'>;

/** Commands without a value. */
export type PlainCommand = Exclude<RunCommand, ValuedCommand | 'branch'>;

export type RunListener = (events: readonly RunEvent[], alive: boolean) => void;

/** What was trained, by the names of its files. */
export type RunCode = { [name: string]: string };

export interface RunSource {
  /** Tells the run from its start event to each listener, then goes on live. Returns the end of the subscription. */
  subscribe(listener: RunListener): () => void;
  /**
   * Resolves when the command has been sent; the run answers with an event that has the same id. Sent again with that id,
   * it is carried out once.
   */
  command(name: RunCommand, value?: CommandValue, id?: string): Promise<void>;
  /** The files of the run's code; left out where the host cannot read them. */
  code?(): Promise<RunCode>;
}
