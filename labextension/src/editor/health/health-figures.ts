// What the strip of a layer in training shows.
import {
  LayerHealth,
  HealthState,
  MANY_ZEROS,
  stateOf,
  WORSE
} from '../../runs/store/health-figures';

export interface Strip {
  state: HealthState;
  /** Length of the bar in percent; null without parameters. */
  level: number | null;
  /** Share of zeros in percent, where there are that many. */
  zeros: number | null;
  /** The layer of a folded block that this is about. */
  id?: string;
}

/** The range of the bars, the same for all layers of all models, so that lengths can be compared. */
export const LOWEST = 1e-8;
export const HIGHEST = 1e3;

/** Rough enough that it stays the same while the figures move a little. */
export function stripOf(
  health: LayerHealth,
  largest: number,
  step: number
): Strip {
  const { gradient, zeros } = health;
  return {
    state: stateOf(health, largest, step),
    level:
      gradient === undefined ? null : gradient === null ? 100 : part(gradient),
    zeros:
      zeros !== undefined && zeros !== null && zeros >= MANY_ZEROS
        ? Math.floor(zeros * 100)
        : null
  };
}

/** The strip of the layer in a block that most needs a look. */
export function worstOf(strips: readonly Strip[]): Strip | undefined {
  const bad = ({ state }: Strip) => WORSE.indexOf(state);
  return [...strips].sort(
    (a, b) =>
      bad(b) - bad(a) ||
      Number(a.level === null) - Number(b.level === null) ||
      (a.level ?? 0) - (b.level ?? 0)
  )[0];
}

function part(gradient: number): number {
  const span = Math.log10(HIGHEST / LOWEST);
  const at = Math.log10(Math.max(gradient, LOWEST) / LOWEST) / span;
  return Math.min(100, Math.round(at * 50) * 2);
}
