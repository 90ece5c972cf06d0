// Settings and results of runs as axes of a chart.

import { scaleLinear, scaleLog, scalePoint } from 'd3-scale';
import type { Translator } from '../../ui/translator';
import {
  figureNames,
  settingsOf,
  settingValue,
  split,
  variedSettings,
  type Value
} from './settings';
import type { Brief, Group } from './runs-source';
import { settingLabel } from './run-text';

export interface AxisChoice {
  readonly id: string;
  readonly label: string;
  readonly isResult: boolean;
  /** Whether it is a varied setting: one that a sweep tries, or that has different values in the runs. */
  readonly isTelling: boolean;
  readonly value: (run: Brief) => Value | undefined;
  /** The values that a sweep tries, where it has a list of them. */
  readonly choices?: readonly Value[];
}

export interface Axis extends AxisChoice {
  readonly kind: 'linear' | 'log' | 'category';
  /** Position of a run from 0 (low) to 1 (high); null for a value that is missing or not finite. */
  readonly place: (run: Brief) => number | null;
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
}

/** Values that differ by more than this factor get a logarithmic axis. */
const DECADES = 50;
const CATEGORIES = 40;
/** Largest number of different numbers that may be choices. */
const FEW = 8;

/** Settings that differ, then results, the best value of each metric before its last. */
export function axisChoices(
  runs: readonly Brief[],
  trans: Translator,
  choices: Group['choices'] = {}
): AxisChoice[] {
  const tried = new Set(runs.flatMap(variedSettings));
  const settings = split(runs).different.map((name): AxisChoice => {
    const value = (run: Brief) => settingsOf(run).get(name);
    return {
      id: `settings.${name}`,
      label: name,
      isResult: false,
      isTelling: tried.size ? tried.has(name) : variety(runs, value) > 1,
      choices: Object.hasOwn(choices, name)
        ? choices[name].map(settingValue)
        : undefined,
      value
    };
  });
  const names = figureNames(runs);
  const results = names.flatMap((name): AxisChoice[] => [
    {
      id: `best.${name}`,
      label: trans.__('best %1', name),
      isResult: true,
      isTelling: false,
      value: run => run.best[name]?.value ?? undefined
    },
    {
      id: `figures.${name}`,
      label: name,
      isResult: true,
      isTelling: false,
      value: run => run.figures[name] ?? undefined
    }
  ]);
  const facts: AxisChoice[] = [
    {
      id: 'backend',
      label: trans.__('Backend'),
      isResult: false,
      isTelling: true,
      value: run => run.backend ?? undefined
    },
    {
      id: 'model',
      label: trans.__('Model'),
      isResult: false,
      isTelling: true,
      value: run => run.model ?? undefined
    },
    {
      id: 'parameters',
      label: trans.__('Parameters'),
      isResult: false,
      isTelling: !tried.size,
      value: run => run.parameters ?? undefined
    }
  ];
  const seconds: AxisChoice = {
    id: 'seconds',
    label: trans.__('Duration'),
    isResult: true,
    isTelling: false,
    value: run => run.seconds ?? undefined
  };
  const varying = facts.filter(({ value }) => variety(runs, value) > 1);
  return [...varying, ...settings, ...results, seconds];
}

/** Number of different values. Runs without the setting, such as ones with another optimizer, do not count. */
function variety(runs: readonly Brief[], value: AxisChoice['value']): number {
  const values = new Set(runs.map(value));
  values.delete(undefined);
  return values.size;
}

/** Axis over the values of these runs. */
export function axisOf(choice: AxisChoice, runs: readonly Brief[]): Axis {
  const values = runs
    .map(choice.value)
    .filter((value): value is Value => value !== undefined);
  const numbers = values.filter(isNumber);
  const isNumeric = numbers.length > 0 && numbers.length === values.length;
  return isNumeric && !choice.choices && !areFew(choice, numbers)
    ? numeric(choice, numbers)
    : categorical(choice, [...(choice.choices ?? []), ...values]);
}

/** Whether the numbers of a setting are choices: there are two of them, or each occurs several times. */
function areFew({ isResult }: AxisChoice, numbers: readonly number[]): boolean {
  const { size } = new Set(numbers);
  return (
    !isResult &&
    (size === 2 || (size > 1 && size <= FEW && numbers.length >= 2 * size))
  );
}

function isNumber(value: Value | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function numeric(choice: AxisChoice, values: readonly number[]): Axis {
  const low = values.reduce((a, b) => Math.min(a, b));
  const high = values.reduce((a, b) => Math.max(a, b));
  const isLog = low > 0 && high / low >= DECADES;
  const room = low === high ? Math.abs(low) / 2 || 1 : 0;
  const scale = isLog
    ? scaleLog([low, high], [0, 1])
    : scaleLinear([low - room, high + room], [0, 1]).nice(5);
  const ticks = (isLog ? decades(low, high) : scale.ticks(5)).map(value => ({
    at: scale(value),
    label: settingLabel(value)
  }));
  return {
    ...choice,
    kind: isLog ? 'log' : 'linear',
    ticks,
    place: run => {
      const value = choice.value(run);
      return isNumber(value) ? scale(value) : null;
    }
  };
}

/** Powers of ten in the range, or its ends where there are too few. */
function decades(low: number, high: number): number[] {
  const from = Math.ceil(Math.log10(low) - 1e-9);
  const to = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((to - from + 1) / 7));
  const found = [];
  for (let power = from; power <= to; power += every) {
    found.push(10 ** power);
  }
  return found.length > 1 ? found : [low, high];
}

function categorical(choice: AxisChoice, values: readonly Value[]): Axis {
  const names = values.every(isNumber)
    ? [...new Set(values)].sort((a, b) => b - a).map(settingLabel)
    : [...new Set(values.map(settingLabel))].sort((a, b) =>
        a.localeCompare(b, undefined, { numeric: true })
      );
  // the first name is at the top: words as in a list, the largest number as on other axes
  const scale = scalePoint([...names].reverse(), [0, 1]).padding(0.3);
  const every = Math.ceil(names.length / CATEGORIES);
  return {
    ...choice,
    kind: 'category',
    ticks: names
      .filter((_, i) => i % every === 0)
      .map(label => ({ at: scale(label) ?? 0, label })),
    place: run => {
      const value = choice.value(run);
      return value === undefined ? null : (scale(settingLabel(value)) ?? null);
    }
  };
}
