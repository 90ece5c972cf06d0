// Texts for the marks of a chart.

import { formatCount, formatSetting } from '../../ui/number-format';
import type { Mark } from '../store/marks';
import { translateGiven, type Translator } from '../../ui/translator';

export function markText(mark: Mark, trans: Translator): string {
  return trans.__(
    'step %1: %2',
    formatCount(mark.step),
    whatHappened(mark, trans)
  );
}

function whatHappened(mark: Mark, trans: Translator): string {
  const { kind, value } = mark;
  switch (kind) {
    case 'learning_rate':
      return trans.__(
        'learning rate set manually to %1',
        number(value, formatSetting)
      );
    case 'epochs':
      return trans.__('total epochs changed to %1', number(value, formatCount));
    case 'checkpoint':
      return trans.__('checkpoint saved');
    case 'branch':
      return trans.__('%1 branched from here', value ?? '');
    case 'begun':
      return trans.__('branched from %1', value ?? '');
    case 'paused':
      return trans.__('paused');
    case 'running':
      return trans.__('resumed');
    case 'stopping':
      return trans.__('stop requested');
    case 'step':
      return trans.__('single step');
    case 'resumed':
      return trans.__('resumed from here');
    case 'alert':
      return mark.template
        ? translateGiven(trans, mark.template, mark.values ?? [])
        : String(value);
  }
}

function number(
  value: number | string | null,
  write: (value: number) => string
): string {
  return typeof value === 'number' ? write(value) : '–';
}
