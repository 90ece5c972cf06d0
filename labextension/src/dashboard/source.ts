// The events of a run and where they come from: a host (JupyterLab, a widget) implements RunSource.

/** Commands without a value. */
export type PlainCommand = 'pause' | 'resume' | 'stop' | 'checkpoint';

/** Commands with a number: the new rate, and how many epochs more. */
export type ValuedCommand = 'learning_rate' | 'add_epochs';

export type RunCommand = PlainCommand | ValuedCommand;

/** Numbers of a column; null (JSON) and NaN (binary) both mean "not a finite number". */
export type Values = ArrayLike<number | null>;

export interface StartEvent {
  kind: 'start';
  time: number;
  id?: string;
  model?: string;
  backend?: string;
  epochs?: number | null;
  steps_per_epoch?: number | null;
  batch_size?: number | null;
  samples?: number | null;
  metrics?: string[];
  settings?: { learning_rate?: number; schedule?: unknown };
  [setting: string]: unknown;
}

/** Columns of equal length: `step` and one for each figure that is logged at every step. */
export interface StepsEvent {
  kind: 'steps';
  time: number;
  step: ArrayLike<number>;
  [column: string]: unknown;
}

/** Figures at the end of an epoch; the names of validation figures begin with "val_". */
export interface EpochEvent {
  kind: 'epoch';
  time: number;
  epoch: number;
  step: number;
  samples_per_second?: number | null;
  [figure: string]: unknown;
}

export interface StatusEvent {
  kind: 'status';
  time: number;
  status: 'running' | 'paused' | 'stopping';
}

/** A rate set by hand, from this step on. */
export interface LearningRateEvent {
  kind: 'learning_rate';
  time: number;
  step: number;
  value: number;
}

/** The number of epochs planned in all has changed. */
export interface EpochsEvent {
  kind: 'epochs';
  time: number;
  epochs: number;
}

/** A checkpoint that was asked for is on the disk. */
export interface CheckpointEvent {
  kind: 'checkpoint';
  time: number;
  step: number;
  path: string;
}

/** Something went wrong that does not end the run. */
export interface ProblemEvent {
  kind: 'problem';
  time: number;
  message: string;
}

/** Columns of equal length; in `of` stand places in the list of layers. */
export type HealthColumns<Name extends string> = {
  readonly of: readonly number[];
} & { readonly [name in Name]: readonly (number | null)[] };

/** What the layers are like after a step; a figure that is null is not finite. */
export interface HealthEvent {
  kind: 'health';
  time: number;
  step: number;
  /** Of how many samples of the batch. */
  samples: number;
  /** Left out where they are those of the event before. */
  layers?: string[];
  parameters: HealthColumns<'gradient' | 'weights' | 'update'>;
  outputs: HealthColumns<'mean' | 'std' | 'largest' | 'zeros' | 'not_finite'>;
}

/** What was not finite first, and of which layer, if that is known. */
export interface FaultPlace {
  node: string | null;
  what: 'output' | 'gradient' | 'update' | 'inputs' | 'targets' | 'loss';
}

export interface EndEvent {
  kind: 'end';
  time: number;
  status: 'finished' | 'stopped' | 'failed';
  message?: string | null;
  place?: FaultPlace;
}

export type RunEvent =
  | StartEvent
  | StepsEvent
  | EpochEvent
  | StatusEvent
  | LearningRateEvent
  | EpochsEvent
  | CheckpointEvent
  | ProblemEvent
  | HealthEvent
  | EndEvent;

export type RunListener = (events: RunEvent[], alive: boolean) => void;

export interface RunSource {
  /** Replays the run from its start event, then goes on live. Returns the end of the subscription. */
  subscribe(listener: RunListener): () => void;
  /** Resolves when the command has been sent; the run answers with an event. */
  command(name: RunCommand, value?: number): Promise<void>;
}
