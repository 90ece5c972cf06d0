// Texts for the health of a layer.
import type { HealthState } from '../store/health-figures';
import type { Translator } from '../../ui/translator';

/** Text beside the name of a layer with a problem. */
export function stateLabel(state: HealthState, trans: Translator): string {
  const words: Record<HealthState, string> = {
    fine: trans.__('healthy'),
    vanishing: trans.__('vanishing'),
    exploding: trans.__('exploding'),
    dead: trans.__('all zero'),
    broken: trans.__('not finite')
  };
  return words[state];
}

export function stateText(state: HealthState, trans: Translator): string {
  const texts: Record<HealthState, string> = {
    fine: trans.__('This layer is healthy.'),
    vanishing: trans.__(
      'Vanishing gradient: less than 1/10,000 of the largest gradient.'
    ),
    exploding: trans.__(
      'Large gradient or updates: try a smaller learning rate.'
    ),
    dead: trans.__('All outputs are 0, so no gradient passes through.'),
    broken: trans.__('There are infinite or NaN values.')
  };
  return texts[state];
}
