// Transforms as a menu offers them: those that fit the samples, found by their words, by category.

import type { EntryInfo, TransformInfo } from '../../api/data';
import type { Translator } from '../../ui/translator';
import { groupText } from './group-text';

export interface TransformGroup {
  /** As in "Pictures: crop". */
  category: string;
  transforms: TransformInfo[];
}

/** Whether a transform changes one of the parts of a sample; one that names no kinds takes any. */
export function fitsEntries(
  transform: TransformInfo,
  entries: readonly EntryInfo[]
): boolean {
  return (
    transform.kinds.length === 0 ||
    entries.length === 0 ||
    entries.some(({ kind }) => transform.kinds.includes(kind))
  );
}

/**
 * Transforms with all words in their name, category or summary. The closest names come first; without words, transforms for
 * certain kinds of parts come before those for any array.
 */
export function searchTransforms(
  transforms: readonly TransformInfo[],
  text: string,
  trans: Translator
): TransformInfo[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (where: string) =>
    words.every(word => where.toLowerCase().includes(word));
  const found = transforms.filter(({ name, category, summary }) =>
    has(`${name} ${category} ${groupText(category, trans)} ${summary}`)
  );
  if (!words.length) {
    return [
      ...found.filter(({ kinds }) => kinds.length),
      ...found.filter(({ kinds }) => !kinds.length)
    ];
  }
  const whole = words.join('');
  const distance = ({ name }: TransformInfo) => {
    const lower = name.toLowerCase();
    const ranks = [lower === whole, lower.startsWith(whole), has(name), true];
    return ranks.indexOf(true);
  };
  return [...found].sort((a, b) => distance(a) - distance(b));
}

export function byCategory(
  transforms: readonly TransformInfo[],
  trans: Translator
): TransformGroup[] {
  const groups = new Map<string, TransformInfo[]>();
  for (const transform of transforms) {
    const group = groups.get(transform.category) ?? [];
    group.push(transform);
    groups.set(transform.category, group);
  }
  return [...groups].map(([category, own]) => ({
    category: groupText(category, trans),
    transforms: own
  }));
}
