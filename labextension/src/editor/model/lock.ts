// Why a document must not be edited now: its gestures do nothing as long as there is a reason.

import { GraphData, LayerTable } from './graph-data';

export type Lock =
  /** The host says why, in a sentence. */
  | { kind: 'host'; reason: string }
  /** The graph came with layers that nobody here knows; a person may edit it nevertheless. */
  | { kind: 'layers'; types: readonly string[] };

export class LockStore {
  readonly state = (): Lock | null => this._state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  /** Locks for a reason that the host has; an empty one ends that. Each source has one reason at a time. */
  setReason(source: string, reason: string): void {
    this._reasons.set(source, reason);
    this._update();
  }

  /**
   * Compares the graph with the layers that there are. The first comparison decides: what a person pastes later locks
   * nothing, but layers that have come to be known open the document.
   */
  compare(graph: GraphData, layers: LayerTable): void {
    const missing = unknownTypes(graph, layers);
    if (!this._isCompared) {
      this._missing = missing;
      this._isCompared = true;
    } else {
      this._missing = this._missing.filter(type => missing.includes(type));
    }
    this._update();
  }

  /** A person edits the document although it has unknown layers. */
  readonly editAnyway = (): void => {
    this._missing = [];
    this._isCompared = true;
    this._update();
  };

  private _update(): void {
    const reason = [...this._reasons.values()].find(Boolean);
    const next: Lock | null = reason
      ? { kind: 'host', reason }
      : this._missing.length
        ? { kind: 'layers', types: this._missing }
        : null;
    if (JSON.stringify(next) !== JSON.stringify(this._state)) {
      this._state = next;
      [...this._listeners].forEach(listener => listener());
    }
  }

  private _state: Lock | null = null;
  private readonly _reasons = new Map<string, string>();
  private _missing: string[] = [];
  private _isCompared = false;
  private readonly _listeners = new Set<() => void>();
}

/** The types of the graph's nodes that are not among the layers, each once. */
export function unknownTypes(graph: GraphData, layers: LayerTable): string[] {
  const types = Object.values(graph.nodes).map(node => node.type);
  return [...new Set(types)].filter(type => !layers.has(type)).sort();
}
