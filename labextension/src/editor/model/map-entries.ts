// Writes plain data into shared maps, only where it differs.
import * as Y from 'yjs';

import { sameJson } from './graph-data';

export type Entry = Y.Map<unknown>;

export function setIfNew<T>(map: Y.Map<T>, key: string, value: T): void {
  if (!map.has(key) || !sameJson(map.get(key), value)) {
    map.set(key, value);
  }
}

export function writeEntry(
  map: Y.Map<Entry>,
  id: string,
  values: object
): void {
  let entry = map.get(id);
  if (!entry) {
    entry = new Y.Map<unknown>();
    map.set(id, entry);
  }
  for (const [key, value] of Object.entries(values)) {
    setIfNew(entry, key, value as unknown);
  }
}

/**
 * The order of an entry: its stored one, or behind all others. Maps have no order that is the same for every reader,
 * but the order of inputs, and of edges into a variadic port, matters; so it is stored.
 */
export function orderOf(map: Y.Map<Entry>, id: string): number {
  const held = map.get(id)?.get('order');
  if (held !== undefined) {
    return Number(held);
  }
  let last = -1;
  map.forEach(entry => {
    last = Math.max(last, Number(entry.get('order') ?? -1));
  });
  return last + 1;
}

export function dropOthers<T>(map: Y.Map<T>, wanted: object): void {
  for (const key of [...map.keys()]) {
    if (!(key in wanted)) {
      map.delete(key);
    }
  }
}
