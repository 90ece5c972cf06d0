// Health of a layer in training, derived from its statistics by rules of thumb from the literature.
import type { Column, Indices } from '../../api/validate';
import type { HealthEvent } from './source';

/** Statistics of a layer. Undefined: not measured. Null: not finite. */
export interface LayerHealth {
  /** Norm of the gradient of the loss with respect to the layer's parameters. */
  gradient?: number | null;
  /** Norm of the parameters. */
  weights?: number | null;
  /** Norm of a step's update relative to that of the parameters. */
  update?: number | null;
  /** Mean of the finite output values. */
  mean?: number | null;
  std?: number | null;
  largest?: number | null;
  /** Fraction of the output values that are exactly 0. */
  zeros?: number | null;
  /** Number of output values that are NaN or infinite. */
  notFinite?: number | null;
}

export type HealthFigure = keyof LayerHealth;

export type HealthState =
  'fine' | 'vanishing' | 'exploding' | 'dead' | 'broken';

/** Health states, from the best to the worst. */
export const WORSE: readonly HealthState[] = [
  'fine',
  'vanishing',
  'exploding',
  'dead',
  'broken'
];

// --- thresholds ---

/**
 * Glorot and Bengio (2010) found slow training where gradients shrink from layer to layer; in a network that learns,
 * norms of layers are within two or three decades of each other. Four below the largest, a layer learns almost nothing.
 * Relative, since all gradients become small together when a model has converged.
 */
export const VANISHING = 1e-4;

/**
 * Stanford's CS231n gives 1e-3 as the usual size of updates relative to the weights. A hundred times as much replaces
 * a layer within ten steps.
 */
export const LARGE_UPDATE = 0.1;

/** The first steps of Adam are as large as the learning rate, whatever the gradients are. */
export const FIRST_STEPS = 20;

/** Gradients are usually clipped at norms of 0.1 to 10 (Pascanu et al. 2013, and most training recipes since). */
export const LARGE_GRADIENT = 1e3;

/** A ReLU sets half of centered values to 0, dropout after it three quarters. */
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

/** Statistics of each layer by its name. */
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
