// Names of the phases in which a step takes part.

import type { Phase } from '../../api/data';
import type { Translator } from '../../ui/translator';

export const PHASES: readonly Phase[] = ['always', 'training', 'evaluation'];

export function phaseText(trans: Translator): Record<Phase, string> {
  return {
    always: trans.__('Always'),
    training: trans.__('Training'),
    evaluation: trans.__('Evaluation')
  };
}
