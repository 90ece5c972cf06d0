// Why a typed name is refused, and the valid name to offer instead.
import {
  faultOfWord,
  isPath,
  isReserved,
  normalName,
  uniqueName,
  validWord
} from '../model/naming';
import type { Translator } from '../../ui/translator';

export interface NameRefusal {
  reason: string;
  /** A valid name like the refused one; null where none is better than another. */
  valid: string | null;
}

/** Refuses a word that cannot be an identifier of Python. */
export function refuseWord(
  word: string,
  trans: Translator
): NameRefusal | null {
  const fault = faultOfWord(word);
  if (!fault) {
    return null;
  }
  const reasons = {
    empty: trans.__('A name is missing.'),
    characters: trans.__(
      '“%1” is not a valid name: use letters, digits and _.',
      word
    ),
    digit: trans.__(
      '“%1” is not a valid name: start with a letter or _.',
      word
    ),
    keyword: trans.__('“%1” is a keyword of Python.', word)
  };
  return {
    reason: reasons[fault],
    valid: fault === 'empty' ? null : validWord(word)
  };
}

export interface NamePlace {
  /** Path of the block around it; empty for the model itself. */
  home: string;
  /** Whether the name may be a number, as in a ModuleList. */
  isIndex: boolean;
  /** Whether another layer or block has a path. */
  isTaken: (path: string) => boolean;
}

/** Refuses the name of a layer or a block: what Python cannot hold, and names that are taken. */
export function refuseName(
  text: string,
  { home, isIndex, isTaken }: NamePlace,
  trans: Translator
): NameRefusal | null {
  const word = normalName(text);
  const path = (name: string) => (home ? `${home}/${name}` : name);
  const has = (name: string) => isTaken(path(name));
  const isNumber = isIndex && /^\d+$/.test(word);
  const refusal = isNumber ? null : refuseWord(word, trans);
  if (refusal) {
    const { valid } = refusal;
    return { ...refusal, valid: valid && uniqueName(valid, { has }) };
  }
  if (!home && isReserved(word)) {
    return {
      reason: trans.__('Every model has something named “%1”.', word),
      valid: uniqueName(validWord(word), { has })
    };
  }
  if (has(word)) {
    return {
      reason: trans.__('Another layer is already named %1.', path(word)),
      valid: isNumber ? null : uniqueName(word, { has })
    };
  }
  return isPath(path(word))
    ? null
    : { reason: trans.__('This name is too long.'), valid: null };
}
