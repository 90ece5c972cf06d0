// Activations of the layers for one sample; outside React, so that only changed nodes redraw.
import {
  NodeActivations,
  SampleAnswer,
  SampleOrigin,
  SamplePrediction
} from './inspection-data';

export interface SampleState {
  isRunning: boolean;
  /** Origin of the sample; null while none is shown. */
  origin: SampleOrigin | null;
  /** Most probable classes and the true one; null for models without classes. */
  prediction: SamplePrediction | null;
  /** Whether the graph has changed since the run. */
  isStale: boolean;
}

export class SampleStore {
  readonly state = (): SampleState => this._state;

  readonly isStale = (): boolean => this._state.isStale;

  /** Activations of one node; the same object until the next run. */
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

  answer({ nodes, prediction = null, ...origin }: SampleAnswer): void {
    this._nodes = nodes;
    this._set({ isRunning: false, origin, prediction, isStale: false });
  }

  stale(isStale: boolean): void {
    if (this._state.origin && this._state.isStale !== isStale) {
      this._set({ ...this._state, isStale });
    }
  }

  clear(): void {
    this._nodes = {};
    this._set({
      ...this._state,
      origin: null,
      prediction: null,
      isStale: false
    });
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
    prediction: null,
    isStale: false
  };
}
