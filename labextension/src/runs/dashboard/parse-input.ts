// Parses the input of a command: a number, or an error message.

import type { Translator } from '../../ui/translator';

export function readRate(text: string, trans: Translator): number | string {
  const value = Number(text);
  return Number.isFinite(value) && value >= 0
    ? value
    : trans.__('The learning rate must be a number of at least 0.');
}

export function readMore(text: string, trans: Translator): number | string {
  return (
    whole(text) ??
    trans.__('The number of epochs must be an integer of at least 1.')
  );
}

export function readEpochs(text: string, trans: Translator): number | string {
  return (
    whole(text) ??
    trans.__('The number of epochs must be an integer of at least 1.')
  );
}

function whole(text: string): number | null {
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= 1 ? value : null;
}
