// What a look inside a model finds: parameters, and what each layer made of one sample.

export interface HistogramData {
  low: number;
  high: number;
  /** One number for each bin, from low to high; a single one if all values are the same. */
  counts: number[];
}

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

/** Grey or coloured tiles of equal size; black is the lowest value and white the highest. */
export interface Picture {
  width: number;
  height: number;
  tiles: number;
  /** How many channels there are, shown or not. */
  channels: number;
  /** Bytes of a pixel: 1 is grey, 3 are red, green and blue. */
  colours: 1 | 3;
  low: number;
  high: number;
  /** The bytes of tile after tile, row after row, in base64. */
  data: string;
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

/** Three digits, or as many as there is room for, with a proper minus sign. */
export function numberText(value: number | null, digits = 3): string {
  if (value === null) {
    return '–';
  }
  const size = Math.abs(value);
  const isPlain = size === 0 || (size >= 0.0001 && size < 1e6);
  const text = isPlain
    ? String(Number(value.toPrecision(digits)))
    : value.toExponential(digits - 1).replace(/\.?0*e/, 'e');
  return text.replace('e+', 'e').replace(/-/g, '−');
}

/** "0 %", "12.5 %", and never 0 % or 100 % of what is not so. */
export function shareText(share: number | null): string {
  if (share === null) {
    return '–';
  }
  const percent = share * 100;
  const text =
    percent > 0 && percent < 0.1
      ? '< 0.1'
      : percent < 100 && percent > 99.9
        ? '> 99.9'
        : String(Number(percent.toFixed(1)));
  return `${text} %`;
}
