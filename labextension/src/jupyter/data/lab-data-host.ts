// Data view in JupyterLab: requests to the server, and the training of the model in front.

import type {
  DatasetSummary,
  MediaAnswer,
  PipelineData,
  PreviewAnswer,
  SamplesAnswer,
  SavedPipeline,
  StatisticsAnswer,
  TransformInfo
} from '../../api/data';
import type {
  ChosenModel,
  DataHost,
  MediaQuery,
  PreviewQuery,
  SamplesQuery
} from '../../data/host';
import type { LabDLApi } from '../requests';

export interface LabDataOptions {
  /** Path of the files. */
  path: string;
  /** The part of a data set that is in view; missing for the one that the server chooses. */
  split?: string;
  api: LabDLApi;
  /** Chooses a pipeline for the training of the current model. */
  train: (saved: SavedPipeline) => Promise<ChosenModel | null>;
  draft: PipelineData | null;
  /** The part that was in view before the page was loaded again. */
  keptSplit: string;
  /** Called when the steps that are not saved change, and when another part is chosen. */
  onChange: () => void;
  /** Shows a file in the file browser. */
  showFile: (path: string) => Promise<void>;
}

export class LabDataHost implements DataHost {
  constructor(private readonly _options: LabDataOptions) {
    this._draft = _options.draft;
    this._keptSplit = _options.keptSplit;
  }

  get path(): string {
    return this._options.path;
  }

  /** Steps that are not saved. */
  draft(): PipelineData | null {
    return this._draft;
  }

  keepDraft(pipeline: PipelineData | null): void {
    this._draft = pipeline;
    this._options.onChange();
  }

  keptSplit(): string {
    return this._keptSplit;
  }

  keepSplit(split: string): void {
    this._keptSplit = split;
    this._options.onChange();
  }

  showFile(path: string): Promise<void> {
    return this._options.showFile(path);
  }

  summary(): Promise<DatasetSummary> {
    return this._send('summary');
  }

  transforms(): Promise<TransformInfo[]> {
    return this._options.api.transforms();
  }

  samples(query: SamplesQuery, signal: AbortSignal): Promise<SamplesAnswer> {
    return this._send('samples', query, signal);
  }

  statistics(signal: AbortSignal): Promise<StatisticsAnswer> {
    return this._send('statistics', {}, signal);
  }

  preview(query: PreviewQuery, signal: AbortSignal): Promise<PreviewAnswer> {
    return this._send('preview', query, signal);
  }

  media(query: MediaQuery, signal: AbortSignal): Promise<MediaAnswer> {
    return this._send('media', query, signal);
  }

  save(pipeline: PipelineData): Promise<SavedPipeline> {
    return this._send('save', { pipeline });
  }

  ofSplit(split: string): DataHost {
    return new LabDataHost({ ...this._options, split });
  }

  train(saved: SavedPipeline): Promise<ChosenModel | null> {
    return this._options.train(saved);
  }

  private _send<T>(
    name: string,
    fields: object = {},
    signal?: AbortSignal
  ): Promise<T> {
    const { api, path, split } = this._options;
    return api.dataset<T>(name, { path, split, ...fields }, signal);
  }

  private _draft: PipelineData | null;
  private _keptSplit: string;
}
