// Interface to the events of a run, which JupyterLab and the widget implement. docs/runs.md describes the events.

import type { CommandValue, RunCommand, RunEvent } from '../../api/events';

export type * from '../../api/events';

/** Commands with a number: the new rate, or the number of additional epochs. */
export type ValuedCommand = Extract<RunCommand, 'learning_rate' | 'add_epochs'>;

/** Commands without a value. */
export type PlainCommand = Exclude<
  RunCommand,
  ValuedCommand | 'branch' | 'save_to'
>;

/** `alive` is null once the folder of the run is gone. */
export type RunListener = (
  events: readonly RunEvent[],
  alive: boolean | null
) => void;

/** Source files of the training by name. */
export type RunCode = { [name: string]: string };

export interface RunSource {
  /** Sends each listener all events from the start, then new ones. Returns a function that unsubscribes. */
  subscribe(listener: RunListener): () => void;
  /**
   * Resolves when the command has been sent; the run answers with an event with the same id. A command that is sent
   * again with its id is carried out once.
   */
  command(name: RunCommand, value?: CommandValue, id?: string): Promise<void>;
  /** Files of the run's code; missing where the host cannot read them. */
  code?(): Promise<RunCode>;
}
