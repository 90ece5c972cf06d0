// Names of steps in the language of the page.

import type { StepObject } from '../../api/data';
import type { Translator } from '../../ui/translator';
import type { Step } from './step-tree';

const NOTEBOOK = '__main__';

/** Name of a step: that of its transform, or of the function that it applies. */
export function stepName({ type, object }: Step): string {
  return object ? object.name : type;
}

/** What an object of the kernel is, as in "function of the notebook". */
export function objectText(
  { kind, module }: StepObject,
  trans: Translator
): string {
  if (module === NOTEBOOK) {
    return kind === 'function'
      ? trans.__('function of the notebook')
      : trans.__('object of the notebook');
  }
  return kind === 'function'
    ? trans.__('function of %1', module)
    : trans.__('object of %1', module);
}
