// Statistics of the layers over time, from the health events.

import type { Column } from '../../api/validate';
import type { HealthFigure, LayerHealth } from './health-figures';
import type { HealthEvent, HistogramsEvent, RunEvent } from './source';
import { column, finite, names, whole } from './bounds';
import type { Reducer } from './reducer';
import { BoundedList } from './bounded-list';

const KEPT = 200;

/** Names of the statistics in an event and in the rows of a table. */
const FIGURES: readonly (readonly [
  'parameters' | 'outputs',
  string,
  HealthFigure
])[] = [
  ['parameters', 'gradient', 'gradient'],
  ['parameters', 'weights', 'weights'],
  ['parameters', 'update', 'update'],
  ['outputs', 'mean', 'mean'],
  ['outputs', 'std', 'std'],
  ['outputs', 'largest', 'largest'],
  ['outputs', 'zeros', 'zeros'],
  ['outputs', 'not_finite', 'notFinite']
];
const PLACE = new Map(FIGURES.map(([, , figure], place) => [figure, place]));

/** Names of layers with their indices. */
export interface LayerNames {
  readonly all: readonly string[];
  readonly place: ReadonlyMap<string, number>;
  /** Classes in the order of the names; empty in runs that were recorded without them. */
  readonly classes: readonly string[];
}

export function layerNames(
  all: readonly string[],
  classes: readonly string[] = []
): LayerNames {
  const place = new Map(all.map((name, place) => [name, place]));
  return { all, place, classes };
}

/** Name for people: a layer of a Sequential, whose name is its index, with its class, as in error messages. */
export function layerLabel(names: LayerNames, name: string): string {
  const type = names.classes[names.place.get(name) ?? -1];
  return type && /(^|\/)\d+$/.test(name) ? `${name} (${type})` : name;
}

/** Layer names of an event. An event omits them if they equal those of the previous event of either kind. */
export function namesOf(
  event: HealthEvent | HistogramsEvent,
  before: LayerNames
): LayerNames {
  if (!event.layers) {
    return before;
  }
  const classes = event.kind === 'health' ? event.classes : undefined;
  const all = names(event.layers);
  const isSame = !classes && all.join('\n') === before.all.join('\n');
  return isSame ? before : layerNames(all, names(classes ?? []));
}

/** Statistics of all layers after a step, as a table, since there may be a thousand layers and many moments. */
export class LayerMoment {
  constructor(
    readonly step: number,
    readonly samples: number,
    readonly layers: LayerNames,
    private readonly _table: Float32Array
  ) {}

  /** Undefined: the layer has no such statistic. Null: not finite. */
  figure(name: string, figure: HealthFigure): number | null | undefined {
    const place = this.layers.place.get(name);
    const row = PLACE.get(figure);
    if (place === undefined || row === undefined) {
      return undefined;
    }
    const value = this._table[place * FIGURES.length + row];
    return Number.isNaN(value)
      ? undefined
      : Number.isFinite(value)
        ? value
        : null;
  }

  health(name: string): LayerHealth {
    const found: LayerHealth = {};
    for (const [, , figure] of FIGURES) {
      const value = this.figure(name, figure);
      if (value !== undefined) {
        found[figure] = value;
      }
    }
    return found;
  }
}

export class Layers implements Reducer<readonly LayerMoment[]> {
  apply(event: RunEvent): void {
    if (event.kind === 'start') {
      this._moments.cut(event.step ?? 0);
    }
    if (event.kind === 'health' || event.kind === 'histograms') {
      this._layers = namesOf(event, this._layers);
    }
    if (event.kind === 'health') {
      const { step, samples = 0 } = event;
      this._moments.push(
        new LayerMoment(step, samples, this._layers, this._table(event))
      );
    }
  }

  view(): readonly LayerMoment[] {
    return this._moments.items();
  }

  /** Table with NaN for a missing statistic and infinity for one that is not finite. */
  private _table(event: HealthEvent): Float32Array {
    const count = this._layers.all.length;
    const table = new Float32Array(count * FIGURES.length).fill(NaN);
    FIGURES.forEach(([group, name], row) => {
      const columns: { readonly [name: string]: Column | undefined } = {
        ...event[group]
      };
      const values = column(columns[name]);
      column(columns.of).forEach((of, index) => {
        const place = whole(of);
        if (place !== null && place < count && index < values.length) {
          table[place * FIGURES.length + row] =
            finite(values[index]) ?? Infinity;
        }
      });
    });
    return table;
  }

  private readonly _moments = new BoundedList<LayerMoment>(
    KEPT,
    ({ step }) => step
  );
  private _layers: LayerNames = layerNames([]);
}
