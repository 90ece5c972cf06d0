// The events of a run and where they come from: a host (JupyterLab, a widget) implements RunSource. docs/runs.md has their meaning.

/** Commands without a value. */
export type PlainCommand = 'pause' | 'resume' | 'step' | 'stop' | 'checkpoint';

/** Commands with a number: the new rate, and how many epochs more. */
export type ValuedCommand = 'learning_rate' | 'add_epochs';

export type RunCommand = PlainCommand | ValuedCommand | 'branch';

/** What a branch does otherwise than the run that it comes from. */
export interface BranchValue {
  learning_rate?: number;
  epochs?: number;
}

export type CommandValue = number | BranchValue;

/** Numbers of a column; null (JSON) and NaN (binary) both mean "not a finite number". */
export type Values = ArrayLike<number | null>;

export interface Gpu {
  name: string;
  memory: number;
}

export interface Environment {
  python?: string;
  labdl?: string;
  framework?: string;
  numpy?: string;
  platform?: string;
  processor?: string;
  cores?: number;
  /** Bytes. */
  memory?: number;
  gpus?: Gpu[];
}

export interface StartEvent {
  kind: 'start';
  time: number;
  version?: number;
  id?: string;
  pid?: number;
  host?: string;
  /** Steps done before: what was recorded behind it does not count any more. */
  step?: number;
  parameters?: number;
  loss?: string;
  optimizer?: string;
  environment?: Environment;
  parent?: { id: string; folder: string; step: number };
  group?: string;
  params?: { [name: string]: unknown };
  model?: string;
  backend?: string;
  epochs?: number | null;
  steps_per_epoch?: number | null;
  batch_size?: number | null;
  samples?: number | null;
  metrics?: string[];
  /** Those of them that are better high, and low. */
  higher?: string[];
  lower?: string[];
  settings?: {
    learning_rate?: number;
    schedule?: unknown;
    [name: string]: unknown;
  };
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
  step?: number;
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
  step?: number;
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

export interface RunSummary {
  step: number;
  epoch: number;
  /** Trained, without pauses. */
  seconds: number;
  figures: { [name: string]: number | null };
  best: { [name: string]: { value: number; epoch: number } };
  spark: (number | null)[];
}

export interface EndEvent {
  kind: 'end';
  time: number;
  status: 'finished' | 'stopped' | 'failed';
  message?: string | null;
  place?: FaultPlace;
  summary?: RunSummary;
}

/** The learning rate from the update behind each of these steps on. */
export interface RateEvent {
  kind: 'rate';
  time: number;
  step: number[];
  value: (number | null)[];
}

/** Where the time of the last `steps` steps went, in seconds. */
export interface PaceEvent {
  kind: 'pace';
  time: number;
  step: number;
  steps: number;
  samples: number;
  data: number;
  /** Forward and backward; all of the step where `update` is null. */
  compute: number;
  update: number | null;
}

export interface SystemEvent {
  kind: 'system';
  time: number;
  /** Percent of one core, of the process. */
  cpu: number;
  /** Bytes, of the process. */
  memory: number;
  /** Percent of all cores, of the computer. */
  cpu_total: number;
  memory_used: number;
  gpus: { use: number; memory: number | null; memory_used: number }[];
}

/** The answer to a command. */
export interface CommandEvent {
  kind: 'command';
  time: number;
  id: string;
  command: RunCommand;
  value?: CommandValue;
  step: number;
  status: 'done' | 'refused';
  message?: string | null;
}

export interface BranchEvent {
  kind: 'branch';
  time: number;
  step: number;
  id: string;
  /** Relative to the folder of the run. */
  folder: string;
}

export type AlertKind =
  'not_finite' | 'divergence' | 'overfitting' | 'plateau' | 'starvation';

export interface AlertEvent {
  kind: 'alert';
  time: number;
  step: number;
  alert: AlertKind;
  level: 'warning' | 'error';
  message: string;
}

export interface LogEvent {
  kind: 'log';
  time: number;
  level: string;
  source: string;
  message: string;
}

/** In `of` stand places in the list of layers; counts are of equal parts of the range from low to high. */
export interface HistogramColumns {
  readonly of: readonly number[];
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
  readonly counts: readonly (readonly number[])[];
}

export interface HistogramsEvent {
  kind: 'histograms';
  time: number;
  step: number;
  /** Left out where they are those of the event before. */
  layers?: string[];
  weights: HistogramColumns;
  gradients: HistogramColumns;
  outputs: HistogramColumns;
}

/** Pixels as `labdl.lab.figures.picture` gives them. */
export interface Picture {
  width: number;
  height: number;
  tiles: number;
  channels: number;
  colours: number;
  low: number | null;
  high: number | null;
  /** Base64. */
  data: string;
}

export interface ShownArray {
  picture?: Picture;
  /** Channels of a curve. */
  curve?: (number | null)[][];
  values?: (number | null)[];
  text?: string;
  shape?: number[];
}

export interface ShownTarget extends ShownArray {
  class?: number;
}

export interface ShownOutput extends ShownArray {
  /** The most probable ones, with their scores. */
  classes?: number[];
  scores?: (number | null)[];
}

export interface SamplesEvent {
  kind: 'samples';
  time: number;
  task: 'classification' | 'regression' | 'other';
  classes: string[] | null;
  samples: { index: number; input: ShownArray; target: ShownTarget }[];
}

export interface PredictionsEvent {
  kind: 'predictions';
  time: number;
  epoch: number;
  step: number;
  outputs: ShownOutput[];
}

export interface ConfusionEvent {
  kind: 'confusion';
  time: number;
  epoch: number;
  step: number;
  /** A row for each true class, a column for each predicted one. */
  counts?: number[][];
  /** Of many classes: true, predicted, how often. */
  pairs?: [number, number, number][];
}

export interface WorstSample {
  index: number;
  loss: number | null;
  input: ShownArray;
  target: ShownTarget;
  output: ShownOutput;
}

export interface WorstEvent {
  kind: 'worst';
  time: number;
  epoch: number;
  step: number;
  samples: WorstSample[];
}

/** Made by a source: what it tells from now on begins anew. */
export interface ResetEvent {
  kind: 'reset';
  time: number;
}

export type RunEvent =
  | StartEvent
  | StepsEvent
  | EpochEvent
  | RateEvent
  | PaceEvent
  | SystemEvent
  | StatusEvent
  | LearningRateEvent
  | EpochsEvent
  | CheckpointEvent
  | BranchEvent
  | CommandEvent
  | ProblemEvent
  | AlertEvent
  | LogEvent
  | HealthEvent
  | HistogramsEvent
  | SamplesEvent
  | PredictionsEvent
  | ConfusionEvent
  | WorstEvent
  | EndEvent
  | ResetEvent;

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
