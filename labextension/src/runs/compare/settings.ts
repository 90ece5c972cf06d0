// Settings of runs as flat tables, and which of them differ.

import type { Brief } from './runs-source';

export type Value = string | number | boolean | null;

/** Nested settings, such as those of a schedule, are named "schedule.warmup"; deeper ones are shown as JSON. */
const DEPTH = 3;

/** Settings by name: those that a sweep tries take precedence over settings of the same name. */
export function settingsOf(run: Brief): ReadonlyMap<string, Value> {
  const known = cache.get(run);
  if (known) {
    return known;
  }
  const found = new Map<string, Value>();
  flatten(run.settings, '', DEPTH, found);
  flatten(run.params, '', DEPTH, found);
  for (const name of ['loss', 'optimizer'] as const) {
    if (run[name] && !found.has(name)) {
      found.set(name, run[name]);
    }
  }
  cache.set(run, found);
  return found;
}

/** Names of the settings that a sweep varies in a run. */
export function variedSettings(run: Brief): string[] {
  const found = new Map<string, Value>();
  flatten(run.params, '', DEPTH, found);
  return [...found.keys()];
}

// Briefs are immutable, so the object can be the key.
const cache = new WeakMap<Brief, Map<string, Value>>();

function flatten(
  content: unknown,
  prefix: string,
  depth: number,
  found: Map<string, Value>
): void {
  for (const [name, value] of Object.entries(content ?? {})) {
    const path = prefix + name;
    if (path === 'backend') {
      continue; // a run has a field of its own for it
    }
    if (isScalar(value)) {
      found.set(path, value);
    } else if (depth > 1 && value && !Array.isArray(value)) {
      flatten(value, `${path}.`, depth - 1, found);
    } else {
      found.set(path, settingValue(value));
    }
  }
}

/** Value of a setting as in `settingsOf`: a list of texts, such as the metrics, without brackets and quotes. */
export function settingValue(value: unknown): Value {
  if (isScalar(value)) {
    return value;
  }
  return Array.isArray(value) && value.length && value.every(isText)
    ? value.join(', ')
    : JSON.stringify(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isScalar(value: unknown): value is Value {
  return (
    value === null || ['string', 'number', 'boolean'].includes(typeof value)
  );
}

export interface Split {
  /** Names of settings that are not the same in all runs, in order of appearance. */
  readonly different: readonly string[];
  readonly same: readonly string[];
}

/** Separates settings that differ from identical ones. A setting that some runs do not have differs. */
export function split(runs: readonly Brief[]): Split {
  const tables = runs.map(settingsOf);
  const names = new Set(tables.flatMap(table => [...table.keys()]));
  const isSame = (name: string) =>
    tables.every(
      table => table.has(name) && table.get(name) === tables[0].get(name)
    );
  const same = new Set([...names].filter(isSame));
  return {
    different: [...names].filter(name => !same.has(name)),
    same: [...same]
  };
}

/** Metrics of runs by name, losses first, validation metrics next to those of the training. */
export function figureNames(runs: readonly Brief[]): string[] {
  const names = new Set(runs.flatMap(run => Object.keys(run.figures)));
  const plain = (name: string) => name.replace(/^val_/, '');
  const rank = (name: string) => (plain(name) === 'loss' ? 0 : 1);
  const first = new Map([...names].map((name, i) => [name, i]));
  const place = (name: string) =>
    first.get(plain(name)) ?? first.get(name) ?? 0;
  return [...names].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      place(a) - place(b) ||
      Number(a.startsWith('val_')) - Number(b.startsWith('val_'))
  );
}

/** Metric that ranks runs by default. */
export function mainFigure(runs: readonly Brief[]): string | null {
  const names = figureNames(runs);
  return names.find(name => name === 'val_loss') ?? names[0] ?? null;
}
