// Typed requests to the routes of LabDL's server extension.

import { URLExt } from '@jupyterlab/coreutils';
import { Contents, ServerConnection } from '@jupyterlab/services';

import type { TransformInfo, TransformsAnswer } from '../api/data';
import type { LayoutAnswer, LayoutRequest } from '../api/layout';
import type {
  CodeAnswer,
  ConvertAnswer,
  DrawingAnswer,
  ExportRequest,
  SampleCode,
  ZooAnswer
} from '../api/editor';
import type { LayersAnswer } from '../api/graph';
import type {
  About,
  AboutAnswer,
  CodeFiles,
  FindAnswer,
  FollowRequest,
  PictureAnswer,
  RunsAnswer
} from '../api/runs';
import type { CommandValue, RunCode, RunCommand } from '../runs/store/source';
import type {
  CheckResult,
  DiffHost,
  Difference,
  GraphData,
  LayerSchema,
  MakeSourceEditor,
  Reading,
  WeightsAnswer
} from '../editor';
import { EventPolling } from './runs/event-polling';
import type {
  DataFileInfo,
  TrainingChoices,
  TrainingCode,
  TrainingSettings
} from './training/training-settings';
import type { ZooModel, ZooSettings } from './zoo/zoo-models';

export class LabDLApi implements DiffHost {
  constructor(private readonly settings: ServerConnection.ISettings) {}

  /** Schemas of the layers; cached after the first success. */
  layers(): Promise<LayerSchema[]> {
    this._layers ??= this.get<LayersAnswer>('layers').then(
      answer => answer.layers,
      error => {
        this._layers = null;
        throw error;
      }
    );
    return this._layers;
  }

  check(graph: GraphData): Promise<CheckResult> {
    return this.send<CheckResult>('POST', 'check', {}, { graph });
  }

  async layout(request: LayoutRequest): Promise<LayoutAnswer['positions']> {
    const answer = await this.send<LayoutAnswer>('POST', 'layout', {}, request);
    return answer.positions;
  }

  async code(graph: GraphData): Promise<string> {
    const answer = await this.send<CodeAnswer>('POST', 'code', {}, { graph });
    return answer.source;
  }

  read(source: string, graph: GraphData | null): Promise<Reading> {
    return this.send<Reading>('POST', 'read', {}, { source, graph });
  }

  /** Set by the plugins with the required services. */
  sourceEditor?: MakeSourceEditor;
  sendCode?: (source: string) => void;
  classes?: DiffHost['classes'];
  palette?: DiffHost['palette'];

  /** Difference of two graphs. */
  difference(old: GraphData, next: GraphData): Promise<Difference> {
    return this.send('POST', 'diff', {}, { old, new: next });
  }

  /** The graph as an SVG image. */
  async drawing(graph: GraphData): Promise<string> {
    const answer = await this.send<DrawingAnswer>(
      'POST',
      'drawing',
      {},
      { graph }
    );
    return answer.svg;
  }

  /** File of an exported model, its name, and why its weights are new. */
  async exportModel(
    request: ExportRequest
  ): Promise<{ content: Blob; name: string; newWeights: string }> {
    const init = { method: 'POST', body: JSON.stringify(request) };
    const response = await this.response('export', {}, init);
    const header = (name: string) =>
      decodeURIComponent(response.headers.get(name) ?? '');
    return {
      content: await response.blob(),
      name: header('X-LabDL-File'),
      newWeights: header('X-LabDL-New-Weights')
    };
  }

  /** Statistics of the parameters beside a model. */
  parameters(path: string, names: string[]): Promise<WeightsAnswer> {
    const query = new URLSearchParams({ path });
    names.forEach(name => query.append('name', name));
    return this.get<WeightsAnswer>('weights', query);
  }

  /** Python code that runs one sample through a graph, and its backend. */
  sampleCode(
    path: string,
    graph: GraphData,
    settings: Pick<TrainingSettings, 'backend' | 'dataset'> | null
  ): Promise<SampleCode> {
    const { backend, dataset } = settings ?? {};
    const body = { path, graph, backend, dataset };
    return this.send('POST', 'sample', {}, body);
  }

  /** Converts an ONNX file to a model's two files; null and the existing files, unless `overwrite` is set. */
  convert(path: string, overwrite: boolean): Promise<ConvertAnswer> {
    return this.send('POST', 'convert', {}, { path, overwrite });
  }

  choices(): Promise<TrainingChoices> {
    return this.get<TrainingChoices>('datasets');
  }

  newGraph(): Promise<GraphData> {
    return this.get<GraphData>('new');
  }

  async zoo(): Promise<ZooModel[]> {
    return (await this.get<ZooAnswer>('zoo')).models;
  }

  /** Graph of a zoo model. */
  zooGraph(name: string, settings: ZooSettings): Promise<GraphData> {
    return this.send('POST', 'zoo/model', {}, { name, settings });
  }

  readGraph(
    path: string,
    options: { content: boolean; hash: boolean }
  ): Promise<Contents.IModel> {
    return this.get<Contents.IModel>('graph', {
      path,
      content: options.content ? '1' : '0',
      hash: options.hash ? '1' : '0'
    });
  }

  /** Graph of a file, and the reason if it is read-only. */
  async graph(path: string): Promise<GraphData> {
    const model = await this.readGraph(path, { content: true, hash: false });
    return model.content as GraphData;
  }

  /** Writes a model file; with `isNew` it does not overwrite an existing one. */
  writeGraph(
    path: string,
    graph: GraphData,
    { isNew = false } = {}
  ): Promise<Contents.IModel> {
    return this.send<Contents.IModel>(
      'PUT',
      'graph',
      { path, ...(isNew && { new: '1' }) },
      { content: graph }
    );
  }

  trainingCode(
    path: string,
    settings: TrainingSettings,
    graph: GraphData | null
  ): Promise<TrainingCode> {
    const body = { path, ...settings, graph };
    return this.send<TrainingCode>('POST', 'train', {}, body);
  }

  /** Contents of a data file whose path is relative to the document's folder. */
  dataFile(
    path: string,
    name: string,
    table: Pick<TrainingSettings, 'target' | 'missing' | 'encode'>
  ): Promise<DataFileInfo> {
    const { target, missing, encode } = table;
    return this.get<DataFileInfo>('data', {
      path,
      name,
      missing,
      encode,
      ...(target === null ? {} : { target })
    });
  }

  /** Transforms of a data set's pipeline; cached after the first success. */
  transforms(): Promise<TransformInfo[]> {
    this._transforms ??= this.get<TransformsAnswer>('dataset/transforms').then(
      answer => answer.transforms,
      error => {
        this._transforms = null;
        throw error;
      }
    );
    return this._transforms;
  }

  /** A request about the data set at a path, by the name of its route. */
  dataset<T>(name: string, body: object, signal?: AbortSignal): Promise<T> {
    const init = { method: 'POST', body: JSON.stringify(body), signal };
    return this.request<T>(`dataset/${name}`, {}, init);
  }

  /** Events of runs. */
  readonly runs = new EventPolling((question, signal) =>
    this.follow(question, signal)
  );

  /** Whether a folder contains a run. */
  async isRun(path: string): Promise<boolean> {
    const place = { beside: path, notebook: '', several: false };
    return (await this.findRun(place)) !== null;
  }

  /** Path of the run folder that a notebook output names; null if it is not below the server's root. */
  async findRun(place: {
    folder?: string;
    beside?: string | null;
    notebook: string;
    /** Whether it is a folder of several runs. */
    several: boolean;
  }): Promise<string | null> {
    const { folder = '', beside, notebook, several } = place;
    const query = {
      folder,
      beside: beside ?? '',
      notebook,
      several: several ? '1' : '0'
    };
    return (await this.get<FindAnswer>('runs/find', query)).path;
  }

  /** Snapshot of a run for notebooks, and whether the run has ended. */
  runPicture(path: string): Promise<PictureAnswer> {
    return this.get('runs/picture', { path });
  }

  /** Runs below a folder that have changed since the answer with this token. */
  listRuns(path: string, seen: string): Promise<RunsAnswer> {
    return this.get<RunsAnswer>('runs', { path, seen });
  }

  /** Saves texts about a run if they still equal `before`; returns the current ones. */
  writeAbout(
    path: string,
    words: Partial<About>,
    before: Partial<About>
  ): Promise<AboutAnswer> {
    return this.send('PUT', 'runs/about', {}, { path, ...words, before });
  }

  async removeRun(path: string): Promise<void> {
    await this.request<object>('run', { path }, { method: 'DELETE' });
  }

  /** Files of the run's code. */
  async runCode(path: string): Promise<RunCode> {
    return (await this.get<CodeFiles>('runs/code', { path })).files;
  }

  async control(
    path: string,
    command: RunCommand,
    value?: CommandValue,
    id?: string
  ): Promise<void> {
    const body = { path, command, value, id };
    await this.send<object>('POST', 'run/control', {}, body);
  }

  private get<T>(
    route: string,
    query: Record<string, string> | URLSearchParams = {}
  ): Promise<T> {
    return this.request<T>(route, query, { method: 'GET' });
  }

  private send<T>(
    method: 'POST' | 'PUT',
    route: string,
    query: Record<string, string>,
    body: object
  ): Promise<T> {
    return this.request<T>(route, query, {
      method,
      body: JSON.stringify(body)
    });
  }

  private async follow(
    question: FollowRequest,
    signal?: AbortSignal
  ): Promise<ArrayBuffer> {
    const init = { method: 'POST', body: JSON.stringify(question), signal };
    return (await this.response('runs/follow', {}, init)).arrayBuffer();
  }

  private async request<T>(
    route: string,
    query: Record<string, string> | URLSearchParams,
    init: RequestInit
  ): Promise<T> {
    return (await (await this.response(route, query, init)).json()) as T;
  }

  private async response(
    route: string,
    query: Record<string, string> | URLSearchParams,
    init: RequestInit
  ): Promise<Response> {
    const search = `${new URLSearchParams(query)}`;
    const url =
      URLExt.join(this.settings.baseUrl, 'labdl', route) +
      (search && `?${search}`);
    const response = await ServerConnection.makeRequest(
      url,
      { ...init, headers: languageHeader(init.headers) },
      this.settings
    );
    if (!response.ok) {
      throw await ServerConnection.ResponseError.create(response);
    }
    return response;
  }

  private _layers: Promise<LayerSchema[]> | null = null;
  private _transforms: Promise<TransformInfo[]> | null = null;
}

/** Headers that name JupyterLab's language, in which Python's sentences are answered. */
function languageHeader(given?: HeadersInit): Headers {
  const headers = new Headers(given);
  // JupyterLab names a locale as zh_CN or zh-CN; without one the page is English
  const language = document.documentElement.lang || 'en';
  headers.set('Accept-Language', language.replace('_', '-'));
  return headers;
}
