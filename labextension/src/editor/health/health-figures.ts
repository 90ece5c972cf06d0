// Content of a layer's health strip.
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
  /** Share of zeros in percent, if it is noteworthy. */
  zeros: number | null;
  /** The layer of a folded block that the strip describes. */
  id?: string;
}

/** Range of the bars, the same for all models, so that lengths are comparable. */
export const LOWEST = 1e-8;
export const HIGHEST = 1e3;

/** The strip of a layer, rounded so that small changes of the figures do not redraw it. */
export function stripOf(
  health: LayerHealth,
  largest: number,
  step: number
): Strip {
  const { gradient, zeros } = health;
  return {
    state: stateOf(health, largest, step),
    level:
      gradient === undefined
        ? null
        : gradient === null
          ? 100
          : barLength(gradient),
    zeros:
      zeros !== undefined && zeros !== null && zeros >= MANY_ZEROS
        ? Math.floor(zeros * 100)
        : null
  };
}

/** The strip with the most severe state. */
export function worstOf(strips: readonly Strip[]): Strip | undefined {
  const bad = ({ state }: Strip) => WORSE.indexOf(state);
  return [...strips].sort(
    (a, b) =>
      bad(b) - bad(a) ||
      Number(a.level === null) - Number(b.level === null) ||
      (a.level ?? 0) - (b.level ?? 0)
  )[0];
}

function barLength(gradient: number): number {
  const span = Math.log10(HIGHEST / LOWEST);
  const at = Math.log10(Math.max(gradient, LOWEST) / LOWEST) / span;
  return Math.min(100, Math.round(at * 50) * 2);
}
