// Requests to the routes of LabDL's server extension, with their types.

import { URLExt } from '@jupyterlab/coreutils';
import { Contents, ServerConnection } from '@jupyterlab/services';

import type { RunCommand, RunEvent } from '../dashboard/source';
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
import type {
  DataFileInfo,
  TrainingChoices,
  TrainingCode,
  TrainingSettings
} from './training-settings';
import type { ZooModel, ZooSettings } from './zoo-models';

export interface RunAnswer {
  offset: number;
  events: RunEvent[];
  /** Whether a process works on the run; null while the run has not begun. */
  alive: boolean | null;
}

export class LabDLApi implements DiffHost {
  constructor(private readonly settings: ServerConnection.ISettings) {}

  /** The layers that exist; asked for once, a failure is asked again. */
  layers(): Promise<LayerSchema[]> {
    this._layers ??= this.get<{ layers: LayerSchema[] }>('layers').then(
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

  async code(graph: GraphData): Promise<string> {
    const answer = await this.send<{ source: string }>(
      'POST',
      'code',
      {},
      { graph }
    );
    return answer.source;
  }

  read(source: string, graph: GraphData | null): Promise<Reading> {
    return this.send<Reading>('POST', 'read', {}, { source, graph });
  }

  /** Given by the plugins that have what these need. */
  sourceEditor?: MakeSourceEditor;
  sendCode?: (source: string) => void;
  classes?: DiffHost['classes'];
  palette?: DiffHost['palette'];

  /** How two graphs differ. */
  difference(old: GraphData, next: GraphData): Promise<Difference> {
    return this.send('POST', 'diff', {}, { old, new: next });
  }

  /** The graph as an SVG picture. */
  async drawing(graph: GraphData): Promise<string> {
    const answer = await this.send<{ svg: string }>(
      'POST',
      'drawing',
      {},
      { graph }
    );
    return answer.svg;
  }

  /** Statistics of the parameters that lie beside a model. */
  parameters(path: string, names: string[]): Promise<WeightsAnswer> {
    const query = new URLSearchParams({ path });
    names.forEach(name => query.append('name', name));
    return this.get<WeightsAnswer>('weights', query);
  }

  /** Python code that runs one sample through a graph, and on which backend. */
  sampleCode(
    path: string,
    graph: GraphData,
    settings: Pick<TrainingSettings, 'backend' | 'dataset'> | null
  ): Promise<{ code: string; backend: string }> {
    const { backend, dataset } = settings ?? {};
    const body = { path, graph, backend, dataset };
    return this.send('POST', 'sample', {}, body);
  }

  /** Makes a model's two files of an ONNX file; null and what is in their place, unless that is to be replaced. */
  convert(
    path: string,
    overwrite: boolean
  ): Promise<{ path: string | null; taken: string[] }> {
    return this.send('POST', 'convert', {}, { path, overwrite });
  }

  choices(): Promise<TrainingChoices> {
    return this.get<TrainingChoices>('datasets');
  }

  newGraph(): Promise<GraphData> {
    return this.get<GraphData>('new');
  }

  async zoo(): Promise<ZooModel[]> {
    return (await this.get<{ models: ZooModel[] }>('zoo')).models;
  }

  /** The graph of a model of the zoo. */
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

  /** The graph of a file, and why it must not be edited if it must not. */
  async graph(path: string): Promise<GraphData & { read_only?: string }> {
    const model = await this.readGraph(path, { content: true, hash: false });
    return model.content as GraphData & { read_only?: string };
  }

  /** Writes a model file; one that `isNew` takes the place of no other. */
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

  /** What a data file holds, whose path is that from the document's folder. */
  dataFile(
    path: string,
    name: string,
    target: string | null
  ): Promise<DataFileInfo> {
    return this.get<DataFileInfo>('data', {
      path,
      name,
      ...(target === null ? {} : { target })
    });
  }

  /** What a run wrote from `offset` on; a run that is not `expected` must be there. */
  run(
    path: string,
    offset: number,
    options: { expected?: boolean } = {}
  ): Promise<RunAnswer> {
    return this.get<RunAnswer>('run', {
      path,
      offset: `${offset}`,
      expected: options.expected ? '1' : '0'
    });
  }

  async control(
    path: string,
    command: RunCommand,
    value?: number
  ): Promise<void> {
    const body = { path, command, value };
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

  private async request<T>(
    route: string,
    query: Record<string, string> | URLSearchParams,
    init: RequestInit
  ): Promise<T> {
    const search = `${new URLSearchParams(query)}`;
    const url =
      URLExt.join(this.settings.baseUrl, 'labdl', route) +
      (search && `?${search}`);
    const response = await ServerConnection.makeRequest(
      url,
      init,
      this.settings
    );
    if (!response.ok) {
      throw await ServerConnection.ResponseError.create(response);
    }
    return (await response.json()) as T;
  }

  private _layers: Promise<LayerSchema[]> | null = null;
}
