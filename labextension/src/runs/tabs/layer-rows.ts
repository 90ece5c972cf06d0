// Rows of the table of layers, filtered and sorted.

import {
  stateOf,
  WORSE,
  type HealthFigure,
  type HealthState
} from '../store/health-figures';
import { layerLabel, type LayerMoment, type LayerNames } from '../store/layers';

export interface LayerRow {
  readonly name: string;
  /** Name for people. */
  readonly label: string;
  /** Null: the layer has only histograms. */
  readonly state: HealthState | null;
}

export type SortKey = 'model' | 'name' | 'state' | HealthFigure;

export interface Sorting {
  readonly by: SortKey;
  readonly isDown: boolean;
}

/** Rows in the order of the model. */
export function layerRows(
  moment: LayerMoment | undefined,
  others: LayerNames | undefined
): LayerRow[] {
  const known = moment?.layers.all ?? [];
  let largest = 0;
  for (const name of known) {
    largest = Math.max(largest, moment?.figure(name, 'gradient') ?? 0);
  }
  const rows: LayerRow[] = known.map(name => ({
    name,
    label: moment ? layerLabel(moment.layers, name) : name,
    state: moment ? stateOf(moment.health(name), largest, moment.step) : null
  }));
  const names = new Set(known);
  return [
    ...rows,
    ...(others?.all ?? [])
      .filter(name => !names.has(name))
      .map(name => ({
        name,
        label: others ? layerLabel(others, name) : name,
        state: null
      }))
  ];
}

export function sortRows(
  rows: readonly LayerRow[],
  moment: LayerMoment | undefined,
  filter: string,
  { by, isDown }: Sorting
): readonly LayerRow[] {
  const wanted = filter.trim().toLowerCase();
  const found = wanted
    ? rows.filter(({ label }) => label.toLowerCase().includes(wanted))
    : rows;
  if (by === 'model') {
    return isDown ? [...found].reverse() : found;
  }
  const value = ({ name, state }: LayerRow): number | string | undefined =>
    by === 'name'
      ? name
      : by === 'state'
        ? state
          ? WORSE.indexOf(state)
          : undefined
        : figureOf(moment?.figure(name, by));
  const keyed = found.map(row => ({ row, key: value(row) }));
  const sign = isDown ? -1 : 1;
  keyed.sort((a, b) => {
    // missing values come last in both directions
    if (a.key === undefined || b.key === undefined) {
      return Number(a.key === undefined) - Number(b.key === undefined);
    }
    return sign * compare(a.key, b.key);
  });
  return keyed.map(({ row }) => row);
}

/** Sort key: values that are not finite are larger than all others. */
function figureOf(value: number | null | undefined): number | undefined {
  return value === null ? Infinity : value;
}

function compare(a: number | string, b: number | string): number {
  return typeof a === 'string' || typeof b === 'string'
    ? String(a).localeCompare(String(b), undefined, { numeric: true })
    : a === b
      ? 0
      : a - b;
}
