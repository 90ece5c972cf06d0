// The marks of a chart in words.

import { count, setting } from './format';
import type { Mark } from './parts/marks';
import type { Translator } from './translator';

export function markText(mark: Mark, trans: Translator): string {
  return trans.__('step %1: %2', count(mark.step), whatHappened(mark, trans));
}

function whatHappened({ kind, value }: Mark, trans: Translator): string {
  switch (kind) {
    case 'learning_rate':
      return trans.__(
        'learning rate set to %1 by hand',
        number(value, setting)
      );
    case 'epochs':
      return trans.__('epochs planned are now %1', number(value, count));
    case 'checkpoint':
      return trans.__('checkpoint kept');
    case 'branch':
      return trans.__('%1 branched from here', value ?? '');
    case 'begun':
      return trans.__('branched from %1', value ?? '');
    case 'paused':
      return trans.__('paused');
    case 'running':
      return trans.__('went on');
    case 'stopping':
      return trans.__('asked to stop');
    case 'step':
      return trans.__('one step by hand');
    case 'resumed':
      return trans.__('resumed from here');
    case 'alert':
      return String(value);
  }
}

function number(
  value: number | string | null,
  write: (value: number) => string
): string {
  return typeof value === 'number' ? write(value) : '–';
}
