// Follows the run that trains the graph, and detects when its health no longer applies to the graph.
import type { HealthEvent, RunEvent } from '../../runs/store/source';
import { GraphDocument } from '../model/document';
import { HealthStore } from './health-store';
import { EditorHost } from '../host';
import { GraphData, sameJson } from '../model/graph-data';

export class HealthWatch {
  constructor(
    private readonly _document: GraphDocument,
    private readonly _host: EditorHost
  ) {}

  readonly store = new HealthStore();

  get isPossible(): boolean {
    return this._host.followRun !== undefined;
  }

  /** Follows run and graph; returns a function that stops. */
  start(): () => void {
    const ends = [
      this._document.subscribe(() => this._compare()),
      this._host.followRun?.(events => this._handleEvents(events))
    ];
    return () => ends.forEach(end => end?.());
  }

  private _handleEvents(events: readonly RunEvent[]): void {
    let measured: HealthEvent[] = [];
    for (const event of events) {
      if (event.kind === 'start') {
        measured = [];
        this._startRun();
      } else if (event.kind === 'health') {
        measured.push(event);
      } else if (event.kind === 'end' && event.place) {
        this.store.fail(event.place);
      }
    }
    this.store.measure(measured);
  }

  private _startRun(): void {
    this._graph = this._document.snapshot();
    const nodes = Object.entries(this._graph.nodes);
    this.store.begin(new Map(nodes.map(([id, { name }]) => [id, name])));
  }

  private _compare(): void {
    const now = this._document.snapshot();
    if (this._graph && this._graph !== now) {
      this.store.stale(!sameJson(structure(this._graph), structure(now)));
    }
  }

  /** The graph at the start of the run, or when the page connected to it. */
  private _graph: GraphData | null = null;
}

/** The parts of a graph that matter for a run: neither names nor positions. */
function structure({ nodes, edges }: GraphData) {
  const layers = Object.entries(nodes).map(([id, node]) => [
    id,
    { ...node, name: '' }
  ]);
  return [Object.fromEntries(layers), edges];
}
