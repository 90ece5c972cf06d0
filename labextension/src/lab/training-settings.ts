// What a model can be trained on, with and by, and what a person has chosen of it: as the server has them.

import type { ParamSchema, Json } from '../editor';

/** What the targets of a data set are. */
export type TargetKind = 'classes' | 'numbers';

export type Shape = (number | null)[];

export interface BackendInfo {
  name: string;
  version: string | null;
  /** Why the backend cannot be used here, and what to do about it; null when it can. */
  problem: string | null;
}

export interface DatasetInfo {
  name: string;
  summary: string;
  kind: TargetKind;
  input_shape: Shape;
  classes: number | null;
  samples: number;
}

/** A data set in a file; null is what is not known without reading a large file. */
export interface DataFileInfo {
  name: string;
  summary: string;
  kind: TargetKind | null;
  /** Of a table, with the one that is to be told. */
  columns: string[] | null;
  target: string | null;
  input_shape: Shape | null;
}

/** Something to choose by its name. */
export interface Offer {
  name: string;
  summary: string;
}

export interface OfferWithSettings extends Offer {
  schema: ParamSchema;
}

export interface OfferOfKind extends Offer {
  /** The data sets that it is for; null where that cannot be said. */
  kind: TargetKind | null;
}

export interface TrainingChoices {
  datasets: DatasetInfo[];
  backends: BackendInfo[];
  losses: (OfferWithSettings & OfferOfKind)[];
  metrics: OfferOfKind[];
  optimizers: OfferWithSettings[];
  schedules: OfferWithSettings[];
  /** The settings of early stopping. */
  stopping: ParamSchema;
  /** What a trainer can be told besides. */
  options: ParamSchema;
  /** What is usual for data sets of a kind. */
  first: { [kind in TargetKind]: { loss: string; metrics: string[] } };
  defaults: Partial<TrainingSettings>;
}

export interface ChosenSettings {
  [name: string]: Json;
}

export interface TrainingSettings {
  backend: string;
  /** A name, or the path of a file from the document's folder. */
  dataset: string;
  /** Of a table: the column that is to be told (null: the last), and whether columns are brought to one scale. */
  target: string | null;
  scale: boolean;
  loss: string;
  loss_settings: ChosenSettings;
  metrics: string[];
  optimizer: string;
  optimizer_settings: ChosenSettings;
  learning_rate: number;
  schedule: string | null;
  schedule_settings: ChosenSettings;
  /** Null: the training goes on to its last epoch. */
  stopping: ChosenSettings | null;
  options: ChosenSettings;
  epochs: number;
  batch_size: number;
  seed: number;
  /** Whether the training goes on from the document's parameters. */
  parameters: 'new' | 'saved';
}

/** Python code that trains a saved model, the folder in which it will write its run, and whether all goes together. */
export interface TrainingCode {
  code: string;
  run: string;
  /** Shapes at the model's ends. */
  inputs: Shape[];
  outputs: Shape[];
  /** What does not fit, in sentences. */
  problems: string[];
  /** Whether parameters lie beside the document. */
  has_parameters: boolean;
}

/** A data set in a file, not one of those that have a name. */
export function isDataFile(name: string): boolean {
  return /\.(csv|npz)$/.test(name);
}

/** Whether samples of a shape go into a model's input. */
export function fits(samples: Shape | null, input: Shape | undefined): boolean {
  return (
    !samples ||
    !input ||
    (samples.length === input.length &&
      input
        .slice(1)
        .every((size, i) => size === null || size === samples[i + 1]))
  );
}
