// Filter of runs by words and facets.

import { title, type Brief } from './runs-source';

export type Facet = 'status' | 'backend' | 'tags' | 'group';
export const FACETS: readonly Facet[] = ['status', 'backend', 'tags', 'group'];

export interface Filter {
  readonly words: string;
  /** Allowed values of each facet; none allows all. */
  readonly facets: { readonly [facet in Facet]?: readonly string[] };
}

export const NO_FILTER: Filter = { words: '', facets: {} };

export function isFiltering(filter: Filter): boolean {
  return (
    filter.words.trim() !== '' || FACETS.some(f => filterRuns(filter, f).length)
  );
}

export function filterRuns(filter: Filter, facet: Facet): readonly string[] {
  return filter.facets[facet] ?? [];
}

export function toggleFacet(
  filter: Filter,
  facet: Facet,
  value: string
): Filter {
  const before = filterRuns(filter, facet);
  const after = before.includes(value)
    ? before.filter(other => other !== value)
    : [...before, value];
  return { ...filter, facets: { ...filter.facets, [facet]: after } };
}

export function valuesOf(run: Brief, facet: Facet): readonly string[] {
  const value = run[facet];
  return value === null || value === ''
    ? []
    : typeof value === 'string'
      ? [value]
      : value;
}

/** Whether a run contains every word in one of its texts and has an allowed value of each facet. */
export function matches(run: Brief, filter: Filter): boolean {
  const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  const { id, path, model, backend, note, tags, group } = run;
  const text = [title(run), id, path, model, backend, note, group, ...tags]
    .join('\n')
    .toLowerCase();
  return (
    words.every(word => text.includes(word)) &&
    FACETS.every(facet => {
      const wanted = filterRuns(filter, facet);
      return (
        !wanted.length ||
        valuesOf(run, facet).some(value => wanted.includes(value))
      );
    })
  );
}

/** Values of a facet with their number of runs, the most frequent first. */
export function counts(
  runs: readonly Brief[],
  facet: Facet
): readonly (readonly [string, number])[] {
  const found = new Map<string, number>();
  for (const value of runs.flatMap(run => valuesOf(run, facet))) {
    found.set(value, (found.get(value) ?? 0) + 1);
  }
  return [...found].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}
