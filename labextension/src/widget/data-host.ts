// Data view in a cell: requests to the kernel, about the data set or one of its parts.

import type {
  DatasetSummary,
  MediaAnswer,
  PipelineData,
  PreviewAnswer,
  SamplesAnswer,
  SavedPipeline,
  StatisticsAnswer,
  TransformInfo,
  TransformsAnswer
} from '../api/data';
import type {
  DataHost,
  MediaQuery,
  PreviewQuery,
  SamplesQuery
} from '../data/host';
import type { DataRequests } from './data-requests';

export class WidgetDataHost implements DataHost {
  constructor(
    private readonly _requests: DataRequests,
    private readonly _split = ''
  ) {}

  summary(): Promise<DatasetSummary> {
    return this._send('summary');
  }

  async transforms(): Promise<TransformInfo[]> {
    return (await this._send<TransformsAnswer>('transforms')).transforms;
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
    return new WidgetDataHost(this._requests, split);
  }

  private _send<T>(
    name: string,
    fields: object = {},
    signal?: AbortSignal
  ): Promise<T> {
    const split = this._split;
    return this._requests.send(name, { split, ...fields }, signal);
  }
}
