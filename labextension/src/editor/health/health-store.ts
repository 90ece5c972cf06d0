// Health of the layers in the run that trains the model; outside React, so that only changed nodes redraw.
import type { FaultPlace, HealthEvent } from '../../runs/store/source';
import {
  figuresOf,
  HealthFigure,
  LayerHealth
} from '../../runs/store/health-figures';
import { Strip, stripOf, worstOf } from './health-figures';
import { sameJson } from '../model/graph-data';

export interface HealthState {
  /** Whether the user has switched it on. */
  isShown: boolean;
  /** Whether there is a measurement. */
  isAny: boolean;
  /** Whether the graph has changed since the run started. */
  isStale: boolean;
}

/** The first non-finite value: its node and kind. */
export interface Fault {
  id: string;
  what: FaultPlace['what'];
}

export interface Measured {
  step: number;
  samples: number;
}

/** Number of measurements in the history. */
const KEPT = 60;

export class HealthStore {
  readonly state = (): HealthState => this._state;

  /** The first non-finite value of the run; null if there is none. */
  readonly fault = (): Fault | null =>
    this._state.isShown ? this._fault : null;

  /** The strip of a node; the same object while its content is equal. */
  strip(id: string): Strip | undefined {
    return this._state.isShown ? this._strips.get(id) : undefined;
  }

  /** The strip of the layer in a block with the most severe state. */
  worst(block: string, members: readonly string[]): Strip | undefined {
    const strips = members.flatMap(id => {
      const strip = this.strip(id);
      return strip ? [{ ...strip, id }] : [];
    });
    const worst = worstOf(strips);
    const known = this._worst.get(block);
    if (!worst || (known && sameJson(known, worst))) {
      return worst && known;
    }
    this._worst.set(block, worst);
    return worst;
  }

  /** The last figures of a node; the same object until the next measurement. */
  figures(id: string): LayerHealth | undefined {
    const name = this._names.get(id);
    return name === undefined ? undefined : this._last?.layers.get(name);
  }

  /** The name of a node in the run. */
  nameOf(id: string): string | undefined {
    return this._names.get(id);
  }

  /** The last measurement; the same object until the next. */
  readonly measured = (): Measured | null => this._last;

  /** The last values of a node's figure, the oldest first; NaN where it was not finite. */
  history(id: string, figure: HealthFigure): number[] {
    const name = this._names.get(id) ?? '';
    return this._history.flatMap(({ layers }) => {
      const value = layers.get(name)?.[figure];
      return value === undefined ? [] : [value ?? NaN];
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  /** Resets the store for a new run; `names` are the run's names of the nodes by id. */
  begin(names: ReadonlyMap<string, string>): void {
    this._names = names;
    this._layers = [];
    this._history = [];
    this._last = null;
    this._strips = new Map();
    this._worst.clear();
    this._fault = null;
    this._set({ isAny: false, isStale: false });
  }

  measure(events: readonly HealthEvent[]): void {
    for (const event of events) {
      this._layers = event.layers ?? this._layers;
      const layers = figuresOf(event, this._layers);
      this._last = { step: event.step, samples: event.samples ?? 0, layers };
      this._history.push(this._last);
    }
    if (!this._last || !events.length) {
      return;
    }
    this._history = this._history.slice(-KEPT);
    const { layers, step } = this._last;
    const gradients = [...layers.values()].map(each => each.gradient ?? 0);
    const largest = gradients.reduce((a, b) => Math.max(a, b), 0);
    const strips = new Map<string, Strip>();
    for (const [id, name] of this._names) {
      const figures = layers.get(name);
      if (figures) {
        const next = stripOf(figures, largest, step);
        const old = this._strips.get(id);
        strips.set(id, old && sameJson(old, next) ? old : next);
      }
    }
    this._strips = strips;
    this._set({ isAny: true });
  }

  /** Records the non-finite value that ended the run. */
  fail({ node, what }: FaultPlace): void {
    const entry = [...this._names].find(([, name]) => name === node);
    this._fault = entry ? { id: entry[0], what } : null;
    this._set({ isAny: this._state.isAny || this._fault !== null });
  }

  stale(isStale: boolean): void {
    if (isStale !== this._state.isStale) {
      this._set({ isStale });
    }
  }

  show(isShown: boolean): void {
    this._set({ isShown });
  }

  private _set(change: Partial<HealthState>): void {
    const next = { ...this._state, ...change };
    this._state = sameJson(this._state, next) ? this._state : next;
    [...this._listeners].forEach(listener => listener());
  }

  private _state: HealthState = { isShown: true, isAny: false, isStale: false };
  private _names: ReadonlyMap<string, string> = new Map();
  private _layers: readonly string[] = [];
  private _last: (Measured & { layers: Map<string, LayerHealth> }) | null =
    null;
  private _history: { layers: Map<string, LayerHealth> }[] = [];
  private _strips = new Map<string, Strip>();
  private readonly _worst = new Map<string, Strip>();
  private _fault: Fault | null = null;
  private readonly _listeners = new Set<() => void>();
}
