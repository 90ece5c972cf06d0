// The state of a layer in training in words.
import type { HealthState } from './health-figures';
import type { Translator } from './translator';

/** What stands beside the name of a layer that is not fine. */
export function stateWord(state: HealthState, trans: Translator): string {
  const words: Record<HealthState, string> = {
    fine: trans.__('fine'),
    vanishing: trans.__('vanishing'),
    exploding: trans.__('exploding'),
    dead: trans.__('all zero'),
    broken: trans.__('not finite')
  };
  return words[state];
}

export function stateText(state: HealthState, trans: Translator): string {
  const texts: Record<HealthState, string> = {
    fine: trans.__('This layer does well.'),
    vanishing: trans.__(
      'Hardly any gradient arrives here: it is less than a ten-thousandth of the largest.'
    ),
    exploding: trans.__(
      'The gradient or the updates are large: try a smaller learning rate.'
    ),
    dead: trans.__('All outputs are 0: no gradient passes through here.'),
    broken: trans.__('There are values that are infinite or not a number.')
  };
  return texts[state];
}
