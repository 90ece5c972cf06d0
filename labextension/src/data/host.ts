// What the data view needs of its host: JupyterLab with its server, or a notebook cell with its kernel.

import type {
  DatasetSummary,
  MediaAnswer,
  MediaRequest,
  PipelineData,
  PreviewAnswer,
  PreviewRequest,
  SamplesAnswer,
  SamplesRequest,
  SavedPipeline,
  StatisticsAnswer,
  TransformInfo
} from '../api/data';

export type SamplesQuery = Omit<SamplesRequest, 'path' | 'split'>;
export type PreviewQuery = Omit<PreviewRequest, 'path' | 'split'>;
export type MediaQuery = Omit<MediaRequest, 'path' | 'split'>;

/** A model whose training uses the data set from now on. */
export interface ChosenModel {
  name: string;
}

export interface DataHost {
  summary(): Promise<DatasetSummary>;
  transforms(): Promise<TransformInfo[]>;
  samples(query: SamplesQuery, signal: AbortSignal): Promise<SamplesAnswer>;
  statistics(signal: AbortSignal): Promise<StatisticsAnswer>;
  preview(query: PreviewQuery, signal: AbortSignal): Promise<PreviewAnswer>;
  /** A part of a sample, or of a result of a preview, to play or show. */
  media(query: MediaQuery, signal: AbortSignal): Promise<MediaAnswer>;
  save(pipeline: PipelineData): Promise<SavedPipeline>;
  /** The part that was in view before the page was loaded again; empty for the one that trains. */
  keptSplit?(): string;
  keepSplit?(split: string): void;
  /** Shows a file beneath the folder of the host in its file browser; rejected if it is not there. */
  showFile?(path: string): Promise<void>;
  /** The same data set with another of its parts in view; missing where no data set has parts. */
  ofSplit?(split: string): DataHost;
  /** Chooses a saved pipeline for the training of the current model; null if no model is open. */
  train?(saved: SavedPipeline): Promise<ChosenModel | null>;
  /** Steps that were not saved before the page was loaded again. */
  draft?(): PipelineData | null;
  /** Keeps steps that are not saved; null once they are. */
  keepDraft?(pipeline: PipelineData | null): void;
}
