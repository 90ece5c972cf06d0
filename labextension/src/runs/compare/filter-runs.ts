// Which of the runs are shown: by words, and by what they have in common.

import { title, type Brief } from './runs-source';

export type Facet = 'status' | 'backend' | 'tags' | 'group';
export const FACETS: readonly Facet[] = ['status', 'backend', 'tags', 'group'];

export interface Filter {
  readonly words: string;
  /** Of each facet the values of which a run must have one; none means any. */
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

/** All words must be found somewhere in what a run is called and what people wrote about it. */
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

/** The values that there are, with how many runs have them, the most frequent first. */
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
