// Reasons why a document is read-only; while there is one, gestures do nothing.

import { GraphData, LayerTable } from './graph-data';

export type Lock =
  /** Reason of the host, as a sentence. */
  | { kind: 'host'; reason: string }
  /** The graph was loaded with unknown layers; the user may edit it nevertheless. */
  | { kind: 'layers'; types: readonly string[] };

export class LockStore {
  readonly state = (): Lock | null => this._state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  /** Sets the reason of a source, one at a time; an empty one clears it. */
  setReason(source: string, reason: string): void {
    this._reasons.set(source, reason);
    this._update();
  }

  /**
   * Compares the graph with the known layers. The first comparison decides: layers pasted later do not lock the
   * document, but layers that become known unlock it.
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

  /** Unlocks a document with unknown layers. */
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

/** The unknown layer types of a graph, without duplicates. */
export function unknownTypes(graph: GraphData, layers: LayerTable): string[] {
  const types = Object.values(graph.nodes).map(node => node.type);
  return [...new Set(types)].filter(type => !layers.has(type)).sort();
}
