// What a look inside a model finds: parameters, and what each layer made of one sample.
import type { HistogramData } from '../dashboard/Histogram';
import type { Picture } from '../dashboard/source';

/** An array in figures; null is what cannot be said of it. */
export interface ArrayFigures {
  shape: number[];
  dtype: string;
  /** How many values there are, and how many of them were looked at. */
  size: number;
  counted: number;
  mean: number | null;
  std: number | null;
  min: number | null;
  max: number | null;
  /** Share of the values that are 0, from 0 to 1. */
  zeros: number | null;
  not_finite: number | null;
  histogram: HistogramData | null;
}

export interface ParameterFigures extends ArrayFigures {
  /** Standard name, such as "conv1/kernel:0". */
  name: string;
}

export interface WeightsAnswer {
  /** What was looked at: a file beside the document, or a model in the kernel. */
  source: 'file' | 'model';
  /** The file's name; null where there is none. */
  file: string | null;
  /** When the file was written, in seconds since 1970. */
  saved: number | null;
  parameters: ParameterFigures[];
  /** How many more parameters there are. */
  left_out: number;
}

export interface Activation extends ArrayFigures {
  picture: Picture | null;
}

/** What one node gave, by output port. */
export type NodeActivations = { [port: string]: Activation };

/** Where a sample and the weights that it met come from. */
export interface SampleOrigin {
  backend: string;
  /** The data set; null for a sample drawn at random. */
  dataset: string | null;
  index: number | null;
  weights: 'file' | 'model' | 'new';
  file?: string | null;
  /** Why the parameters of the file were not taken. */
  reason?: string | null;
}

export interface SampleAnswer extends SampleOrigin {
  nodes: { [id: string]: NodeActivations };
}
