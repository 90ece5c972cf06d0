// Runs one sample through the model on request, and detects when its activations no longer fit the graph.
import { GraphDocument } from '../model/document';
import { EditorHost } from '../host';
import { SampleOrigin } from './inspection-data';
import { GraphData, sameJson } from '../model/graph-data';
import { SampleStore } from './sample-store';
import { Translator } from '../../ui/translator';

export class SampleRun {
  constructor(
    private readonly _document: GraphDocument,
    private readonly _host: EditorHost,
    private readonly _say: (notice: string) => void,
    private readonly _trans: Translator
  ) {}

  readonly store = new SampleStore();

  get isPossible(): boolean {
    return this._host.sample !== undefined;
  }

  /** Follows the graph; returns a function that stops. */
  start(): () => void {
    return this._document.subscribe(() => this._compare());
  }

  async run(): Promise<void> {
    if (!this._host.sample || this.store.state().isRunning) {
      return;
    }
    const graph = this._document.snapshot();
    this.store.running(true);
    this._say(this._trans.__('Running one sample…'));
    try {
      const answer = await this._host.sample(graph);
      this._graph = graph;
      this.store.answer(answer);
      this._say(originText(answer, this._trans));
      this._compare();
    } catch (error) {
      this.store.running(false);
      // Any failure must be visible to the user.
      this._say(
        this._trans.__(
          'The sample could not run: %1',
          error instanceof Error ? error.message : String(error)
        )
      );
    }
  }

  clear(): void {
    this._graph = null;
    this.store.clear();
  }

  private _compare(): void {
    const now = this._document.snapshot();
    if (this._graph) {
      const { nodes, edges } = this._graph;
      this.store.stale(
        !sameJson(nodes, now.nodes) || !sameJson(edges, now.edges)
      );
    }
  }

  /** The graph of the shown activations. */
  private _graph: GraphData | null = null;
}

/** Origin of the sample and of the weights, as a sentence. */
export function originText(origin: SampleOrigin, trans: Translator): string {
  const { backend, dataset, index, weights, file, reason } = origin;
  const sample =
    dataset === null
      ? trans.__('A random sample on %1', backend)
      : trans.__('Test sample %1 of %2 on %3', index ?? 0, dataset, backend);
  if (weights === 'file') {
    return trans.__('%1, with parameters from %2.', sample, file ?? '');
  }
  if (weights === 'model') {
    return trans.__('%1, with the weights of the model.', sample);
  }
  return reason
    ? trans.__('%1, with new weights: %2', sample, reason)
    : trans.__('%1, with new weights.', sample);
}
