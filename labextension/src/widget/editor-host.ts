// Requests of the editor to Python, numbered, over the messages of a widget.

import type { AnyModel } from '@anywidget/types';
import type { LayoutAnswer, LayoutRequest } from '../api/layout';
import type { CodeAnswer, WidgetReply, WidgetRequest } from '../api/editor';
import type { LayersAnswer } from '../api/graph';
import type { RunEvent } from '../runs/store/source';
import type { KernelClasses } from '../editor/code/kernel-classes';
import type { Reading } from '../editor/code/source-editor';
import type { DiffHost, Difference } from '../editor/diff/diff-data';
import type {
  SampleAnswer,
  WeightsAnswer
} from '../editor/samples/inspection-data';
import type {
  CheckResult,
  GraphData,
  LayerSchema
} from '../editor/model/graph-data';
import type { EditorTraits } from './graph-trait';
import { WidgetRunSource } from './run-source';

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

export class WidgetEditorHost implements DiffHost {
  private readonly _waiting = new Map<string, Waiting>();
  /** Prefix of request ids, since every page receives every reply. */
  private readonly _page = Math.random().toString(36).slice(2);
  private _count = 0;
  private _runs: WidgetRunSource | undefined;

  constructor(private readonly _model: AnyModel<EditorTraits>) {
    _model.on('msg:custom', this._onMessage);
    _model.on('comm_live_update', this._rejectAll);
  }

  dispose(): void {
    this._model.off('msg:custom', this._onMessage);
    this._model.off('comm_live_update', this._rejectAll);
    this._runs?.dispose();
    this._rejectAll();
  }

  async layers(): Promise<LayerSchema[]> {
    return (await this._request<LayersAnswer>('layers')).layers;
  }

  check(graph: GraphData): Promise<CheckResult> {
    return this._request<CheckResult>('check', graph);
  }

  async layout(request: LayoutRequest): Promise<LayoutAnswer['positions']> {
    const name = 'layout';
    return (await this._request<LayoutAnswer>(name, undefined, request))
      .positions;
  }

  async code(graph: GraphData): Promise<string> {
    return (await this._request<CodeAnswer>('code', graph)).source;
  }

  read(source: string, graph: GraphData | null): Promise<Reading> {
    return this._request<Reading>('read', graph ?? undefined, { source });
  }

  classes(): Promise<KernelClasses> {
    return this._request<KernelClasses>('classes');
  }

  difference(old: GraphData, next: GraphData): Promise<Difference> {
    return this._request<Difference>('difference', old, { new: next });
  }

  weights(names: string[], graph: GraphData): Promise<WeightsAnswer> {
    return this._request<WeightsAnswer>('weights', graph, { names });
  }

  sample(graph: GraphData): Promise<SampleAnswer> {
    return this._request<SampleAnswer>('sample', graph);
  }

  /** Events of the runs in the widget's kernel. */
  followRun(hear: (events: readonly RunEvent[]) => void): () => void {
    this._runs ??= new WidgetRunSource(this._model);
    return this._runs.subscribe(events => hear(events));
  }

  private _request<T>(
    name: NonNullable<WidgetRequest['name']>,
    graph?: GraphData,
    more?: object
  ): Promise<T> {
    const id = `${this._page}-${++this._count}`;
    return new Promise<T>((resolve, reject) => {
      this._waiting.set(id, {
        resolve: result => resolve(result as T),
        reject
      });
      const request: WidgetRequest = {
        type: 'request',
        id,
        name,
        ...(graph && { graph }),
        ...more
      };
      this._model.send(request);
    });
  }

  private readonly _onMessage = (message: WidgetReply): void => {
    const waiting =
      message.type === 'reply' ? this._waiting.get(message.id) : undefined;
    if (!waiting) {
      return;
    }
    this._waiting.delete(message.id);
    if (message.error !== undefined) {
      waiting.reject(new Error(message.error));
    } else {
      waiting.resolve(message.result);
    }
  };

  /** Rejects all pending requests, since the kernel or the widget has ended. */
  private readonly _rejectAll = (): void => {
    this._waiting.forEach(({ reject }) =>
      reject(new Error('The kernel of this editor has ended.'))
    );
    this._waiting.clear();
  };
}
