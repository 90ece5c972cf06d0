// What the figures of a layer in training say of it: a state, by rules of thumb from the literature.
import type { Column, Indices } from '../../api/validate';
import type { HealthEvent } from './source';

/** Undefined: the layer has no such figure. Null: it is not finite. */
export interface LayerHealth {
  /** Norm of the loss's gradient for all parameters of the layer. */
  gradient?: number | null;
  /** Norm of its parameters. */
  weights?: number | null;
  /** Norm of a step's update, as a part of that of the parameters. */
  update?: number | null;
  /** Of its output, of the values that are finite. */
  mean?: number | null;
  std?: number | null;
  largest?: number | null;
  /** Share of the output's values that are exactly 0. */
  zeros?: number | null;
  /** How many values of the output are NaN or infinite. */
  notFinite?: number | null;
}

export type HealthFigure = keyof LayerHealth;

export type HealthState =
  'fine' | 'vanishing' | 'exploding' | 'dead' | 'broken';

/** From what is nothing to worry about to the worst. */
export const WORSE: readonly HealthState[] = [
  'fine',
  'vanishing',
  'exploding',
  'dead',
  'broken'
];

// --- when a figure is worth a look ---

/**
 * Glorot and Bengio (2010) found training slow where gradients shrink from layer to layer; in a network that learns, norms
 * of layers are within two or three decades of each other. Four below the largest, a layer learns next to nothing. Relative,
 * since all gradients become small together when a model has learned its data.
 */
export const VANISHING = 1e-4;

/**
 * Stanford's CS231n gives 1e-3 as the usual size of updates relative to the weights. A hundred times as much replaces a
 * layer within ten steps.
 */
export const LARGE_UPDATE = 0.1;

/** So many steps at the beginning are as large as the learning rate with Adam, whatever the gradients are. */
export const FIRST_STEPS = 20;

/** Norms at which gradients are clipped are 0.1 to 10 (Pascanu et al. 2013, and most training recipes since). */
export const LARGE_GRADIENT = 1e3;

/** A ReLU sets half of what is centered to 0, dropout behind it three quarters. */
export const MANY_ZEROS = 0.8;

export function stateOf(
  health: LayerHealth,
  largest: number,
  step: number
): HealthState {
  const { gradient, weights, update, zeros, notFinite } = health;
  if (
    gradient === null ||
    weights === null ||
    update === null ||
    (notFinite ?? 0) > 0
  ) {
    return 'broken';
  }
  if (zeros !== undefined && zeros !== null && zeros >= 1) {
    return 'dead';
  }
  const isLarge = step > FIRST_STEPS && (update ?? 0) > LARGE_UPDATE;
  if (isLarge || (gradient ?? 0) > LARGE_GRADIENT) {
    return 'exploding';
  }
  if (gradient !== undefined && gradient <= VANISHING * largest) {
    return 'vanishing';
  }
  return 'fine';
}

/** The figures of each layer by its name. */
export function figuresOf(
  event: HealthEvent,
  layers: readonly string[]
): Map<string, LayerHealth> {
  const found = new Map<string, LayerHealth>();
  const put = (
    of: Indices = [],
    columns: { [figure in HealthFigure]?: Column }
  ) =>
    Array.from(of).forEach((place, row) => {
      const name = layers[place];
      if (name !== undefined) {
        const figures = found.get(name) ?? {};
        for (const [figure, column] of Object.entries(columns)) {
          figures[figure as HealthFigure] = column?.[row] ?? null;
        }
        found.set(name, figures);
      }
    });
  const { of, gradient, weights, update } = event.parameters;
  put(of, { gradient, weights, update });
  const { mean, std, largest, zeros, not_finite } = event.outputs;
  put(event.outputs.of, { mean, std, largest, zeros, notFinite: not_finite });
  return found;
}
