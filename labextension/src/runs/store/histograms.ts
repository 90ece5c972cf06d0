// Histograms of the layers' values over time.

import type { HistogramsEvent, RunEvent } from './source';
import { column, finite, whole } from './bounds';
import { layerNames, namesOf, type LayerNames } from './layers';
import type { Reducer } from './reducer';
import { BoundedList } from './bounded-list';

const KEPT = 100;

export const SPREAD_KINDS = ['weights', 'gradients', 'outputs'] as const;
export type SpreadKind = (typeof SPREAD_KINDS)[number];

/** Counts in equal bins from low to high. */
export interface Spread {
  readonly low: number;
  readonly high: number;
  readonly counts: Float32Array;
}

export interface SpreadMoment {
  readonly step: number;
  readonly layers: LayerNames;
  readonly spreads: {
    readonly [kind in SpreadKind]: ReadonlyMap<string, Spread>;
  };
}

export class Histograms implements Reducer<readonly SpreadMoment[]> {
  apply(event: RunEvent): void {
    if (event.kind === 'start') {
      this._moments.cut(event.step ?? 0);
    }
    if (event.kind === 'health' || event.kind === 'histograms') {
      this._layers = namesOf(event, this._layers);
    }
    if (event.kind === 'histograms') {
      this._moments.push({
        step: event.step,
        layers: this._layers,
        spreads: {
          weights: this._spreads(event, 'weights'),
          gradients: this._spreads(event, 'gradients'),
          outputs: this._spreads(event, 'outputs')
        }
      });
    }
  }

  view(): readonly SpreadMoment[] {
    return this._moments.items();
  }

  private _spreads(
    event: HistogramsEvent,
    kind: SpreadKind
  ): Map<string, Spread> {
    const { of, low, high, counts } = event[kind];
    const found = new Map<string, Spread>();
    column(of).forEach((index, row) => {
      const place = whole(index);
      const name = place === null ? undefined : this._layers.all[place];
      const from = finite(low[row]);
      const to = finite(high[row]);
      const parts = column(counts[row], 256).map(each => finite(each) ?? 0);
      if (name !== undefined && from !== null && to !== null && to >= from) {
        if (parts.length) {
          const counts = Float32Array.from(parts, part => Math.max(0, part));
          found.set(name, { low: from, high: to, counts });
        }
      }
    });
    return found;
  }

  private readonly _moments = new BoundedList<SpreadMoment>(
    KEPT,
    ({ step }) => step
  );
  private _layers: LayerNames = layerNames([]);
}
