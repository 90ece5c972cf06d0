// Health of the whole model in four numbers.

import { figuresOf, stateOf, type HealthState } from './health-figures';
import { Series } from './series';
import type { HealthEvent, RunEvent } from './source';
import { layerLabel, layerNames, namesOf, type LayerNames } from './layers';
import type { Reducer } from './reducer';

export type VitalName = 'gradient' | 'update' | 'notFinite' | 'zeros';

export interface Vital {
  readonly name: VitalName;
  /** Undefined: no layer has this statistic. NaN: not finite. */
  readonly now: number | undefined;
  readonly state: HealthState;
  /** Layer that the number belongs to, as people read it, if it is about one. */
  readonly layer: string | null;
  readonly curve: Series;
}

export interface HealthView {
  /** Step and number of samples of the measurement; null before the first. */
  readonly step: number | null;
  readonly samples: number;
  readonly vitals: readonly Vital[];
}

const NAMES: readonly VitalName[] = [
  'gradient',
  'update',
  'notFinite',
  'zeros'
];
const MOST = 512;
const NOTHING = { step: null, samples: 0 };

export class Health implements Reducer<HealthView> {
  apply(event: RunEvent): void {
    if (event.kind === 'start') {
      const step = event.step ?? 0;
      NAMES.forEach(name => this._curves[name].cut(step));
      if ((this._view.step ?? 0) > step || step === 0) {
        this._view = { ...NOTHING, vitals: this._vitals({}) };
      }
    } else if (event.kind === 'health') {
      this._layers = namesOf(event, this._layers);
      this._measure(event);
    }
  }

  view(): HealthView {
    return this._view;
  }

  private _measure(event: HealthEvent): void {
    const { step, samples = 0 } = event;
    const layers = [...figuresOf(event, this._layers.all)];
    const gradients = layers.flatMap(([, { gradient }]) =>
      gradient === undefined ? [] : [gradient ?? NaN]
    );
    const largest = gradients.reduce((a, b) => (b > a ? b : a), 0);
    let broken = 0;
    const [update, zeros] = (['update', 'zeros'] as const).map(figure => {
      let most: { now: number; layer: string } | undefined;
      for (const [layer, figures] of layers) {
        const now = figures[figure];
        if (now !== undefined && (!most || !(most.now >= (now ?? Infinity)))) {
          most = { now: now ?? Infinity, layer };
        }
      }
      return most;
    });
    for (const [, figures] of layers) {
      broken += figures.notFinite ?? 0;
      broken += [figures.gradient, figures.weights, figures.update].filter(
        value => value === null
      ).length;
    }
    const states = layers.map(([, { gradient }]) =>
      stateOf({ gradient }, largest, step)
    );
    const worst = (['broken', 'exploding', 'vanishing'] as const).find(state =>
      states.includes(state)
    );
    const at = states.indexOf(worst ?? 'fine');
    const of = (figures: Parameters<typeof stateOf>[0]) =>
      stateOf(figures, largest, step);
    const finite = (value: number) => (Number.isFinite(value) ? value : null);
    const found: { [name in VitalName]?: Omit<Vital, 'name' | 'curve'> } = {};
    if (gradients.length) {
      found.gradient = {
        now: Math.hypot(...gradients),
        state: worst ?? 'fine',
        layer: worst ? layers[at][0] : null
      };
    }
    if (update) {
      const state = of({ update: finite(update.now) });
      found.update = { ...update, state };
    }
    if (layers.length) {
      const state = of({ notFinite: broken });
      found.notFinite = { now: broken, state, layer: null };
    }
    if (zeros && Number.isFinite(zeros.now)) {
      found.zeros = { ...zeros, state: of({ zeros: zeros.now }) };
    }
    for (const name of NAMES) {
      const now = found[name]?.now;
      if (now !== undefined) {
        this._curves[name].add(step, now);
      }
    }
    this._view = { step, samples, vitals: this._vitals(found) };
  }

  private _vitals(found: {
    [name in VitalName]?: Omit<Vital, 'name' | 'curve'>;
  }): Vital[] {
    const nothing = { now: undefined, state: 'fine', layer: null } as const;
    return NAMES.map(name => ({
      name,
      curve: this._curves[name],
      ...labelled(found[name] ?? nothing, this._layers)
    }));
  }

  private readonly _curves: Record<VitalName, Series> = {
    gradient: new Series({ most: MOST }),
    update: new Series({ most: MOST }),
    notFinite: new Series({ most: MOST }),
    zeros: new Series({ most: MOST })
  };
  private _layers: LayerNames = layerNames([]);
  private _view: HealthView = { ...NOTHING, vitals: this._vitals({}) };
}

function labelled<Found extends { layer: string | null }>(
  found: Found,
  names: LayerNames
): Found {
  const { layer } = found;
  return { ...found, layer: layer === null ? null : layerLabel(names, layer) };
}
