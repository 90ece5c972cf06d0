// Ids and names for new nodes. The rule of names is Python's, in labdl/nn/names.py.

import { KEYWORDS, PATH_LIMITS, RESERVED } from '../../api/names';

/** Why a word is no name that a person may choose. */
export type WordFault = 'empty' | 'characters' | 'digit' | 'keyword';

/** The NFKC form of a word, under which Python compares names. */
export function normalName(word: string): string {
  return word.normalize('NFKC');
}

/** The fault of a word as a name; null for an identifier of Python that is no keyword. */
export function faultOfWord(text: string): WordFault | null {
  const word = normalName(text);
  if (word === '') {
    return 'empty';
  }
  if (!CONTINUES.test(word)) {
    return 'characters';
  }
  if (!STARTS.test(word)) {
    return 'digit';
  }
  return KEYWORDS.includes(word) ? 'keyword' : null;
}

/** Whether a name is a valid Python identifier. */
export function isIdentifier(name: string): boolean {
  return faultOfWord(name) === null;
}

/** Whether every model has an attribute of this name. */
export function isReserved(name: string): boolean {
  return RESERVED.includes(name);
}

/** A valid name like `text`: my_layer for "my layer", class_ for "class". */
export function validWord(text: string): string {
  let word = normalName(text);
  if (faultOfWord(text)) {
    word = withoutOthers(word).replace(/^_+|_+$/g, '');
  }
  if (!STARTS.test(word)) {
    word = word ? `layer_${word}` : 'layer';
  }
  return KEYWORDS.includes(word) || isReserved(word) ? `${word}_` : word;
}

/** Whether a file can hold a name with its blocks. */
export function isPath(name: string): boolean {
  const words = name.split('/');
  return (
    [...name].length <= PATH_LIMITS.characters &&
    words.length <= PATH_LIMITS.words &&
    words.every(word => CONTINUES.test(word) && word === normalName(word))
  );
}

/** A valid path like `name`. */
export function validPath(name: string): string {
  const end = (text: string) =>
    [...text].slice(-PATH_LIMITS.characters).join('');
  const words = end(name).split('/').slice(-PATH_LIMITS.words);
  const path = words.map(word => withoutOthers(normalName(word)) || 'layer');
  return end(path.join('/')).replace(/^\/+/, '');
}

const STARTS = /^[\p{XID_Start}_]/u;
// Unicode 15.1 has invisible joiners too, which Python does not take.
const CONTINUES = /^(?:(?![\u200c\u200d])\p{XID_Continue})+$/u;
const OTHERS = /[\u200c\u200d]|\P{XID_Continue}/gu;

function withoutOthers(word: string): string {
  return normalName(word.replace(OTHERS, '_'));
}

/** A name like `wanted` that is not in `taken`: conv2d, conv2d_1, conv2d_2 … */
export function uniqueName(
  wanted: string,
  taken: { has(name: string): boolean }
): string {
  if (isIdentifier(wanted) && !taken.has(wanted)) {
    return wanted;
  }
  const stem = wanted.replace(/_\d+$/, '') || 'layer';
  for (let n = 1; ; n++) {
    const name = `${stem}_${n}`;
    if (!taken.has(name)) {
      return name;
    }
  }
}

/** A path like `wanted` that is not taken; a number at the end is incremented. */
export function uniquePath(
  wanted: string,
  taken: { has(name: string): boolean }
): string {
  const at = wanted.lastIndexOf('/') + 1;
  const home = wanted.slice(0, at);
  const word = wanted.slice(at);
  if (!/^\d+$/.test(word)) {
    const inside = { has: (name: string) => taken.has(home + name) };
    return home + uniqueName(word, inside);
  }
  let number = Number(word);
  while (taken.has(`${home}${number}`)) {
    number++;
  }
  return `${home}${number}`;
}

/** The default name for a type: its last part in lower case. */
export function nameOfType(type: string): string {
  const last = type.split('.').pop() ?? '';
  return validWord(last.toLowerCase());
}

/** A short id; random, because two users may add a node at the same time. */
export function newId(
  prefix: string,
  taken: { has(id: string): boolean }
): string {
  for (;;) {
    const id = prefix + Math.random().toString(36).slice(2, 10);
    if (!taken.has(id)) {
      return id;
    }
  }
}
