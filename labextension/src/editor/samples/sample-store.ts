// What the layers made of one sample, outside React, so that only nodes that show something else redraw.
import { NodeActivations, SampleAnswer, SampleOrigin } from './inspection-data';

export interface SampleState {
  isRunning: boolean;
  /** Where the sample came from; null while none is shown. */
  origin: SampleOrigin | null;
  /** Whether the graph has changed since. */
  isStale: boolean;
}

export class SampleStore {
  readonly state = (): SampleState => this._state;

  readonly isStale = (): boolean => this._state.isStale;

  /** What one node gave; the same object until another sample has run. */
  node(id: string): NodeActivations | undefined {
    return this._nodes[id];
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  running(isRunning: boolean): void {
    this._set({ ...this._state, isRunning });
  }

  answer({ nodes, ...origin }: SampleAnswer): void {
    this._nodes = nodes;
    this._set({ isRunning: false, origin, isStale: false });
  }

  stale(isStale: boolean): void {
    if (this._state.origin && this._state.isStale !== isStale) {
      this._set({ ...this._state, isStale });
    }
  }

  clear(): void {
    this._nodes = {};
    this._set({ ...this._state, origin: null, isStale: false });
  }

  private _set(state: SampleState): void {
    this._state = state;
    [...this._listeners].forEach(listener => listener());
  }

  private _nodes: { [id: string]: NodeActivations } = {};
  private readonly _listeners = new Set<() => void>();
  private _state: SampleState = {
    isRunning: false,
    origin: null,
    isStale: false
  };
}
