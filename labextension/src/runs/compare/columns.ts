// Columns of the table of runs, and which of them are shown by default.

import type { Translator } from '../../ui/translator';
import { figureNames, settingsOf, split, type Value } from './settings';
import { title, type Brief } from './runs-source';

export type ColumnKind =
  | 'status'
  | 'name'
  | 'text'
  | 'group'
  | 'figure'
  | 'setting'
  | 'moment'
  | 'duration'
  | 'epochs'
  | 'tags'
  | 'note';

export interface RunColumn {
  readonly id: string;
  readonly label: string;
  readonly kind: ColumnKind;
  readonly width: number;
  /** Whether it is shown by default. */
  readonly isShown: boolean;
  /** Whether it has the same value in all of several runs. */
  readonly isConstant: boolean;
  /** Sort key; undefined comes last in both directions. */
  readonly value: (run: Brief) => string | number | undefined;
}

/** Sort order of the statuses: active ones first, then by success. */
const ORDER = ['running', 'paused', 'stopping', 'waiting', 'finished', 'stopped', 'failed', 'lost', 'unreadable']; // prettier-ignore

const number = (value: number | null | undefined) =>
  value === null || value === undefined || !Number.isFinite(value)
    ? undefined
    : value;

type Plain = Omit<RunColumn, 'isConstant'>;

/** Columns that a person fills in, or by which one finds a run: they are never left out. */
const KEPT: readonly ColumnKind[] = ['status', 'name', 'tags', 'note'];
const RANKS: Readonly<Record<ColumnKind, number>> = {
  status: 0,
  name: 1,
  setting: 3,
  figure: 4,
  text: 5,
  group: 5,
  epochs: 6,
  duration: 6,
  moment: 6,
  tags: 7,
  note: 8
};
const MAIN = 2;
const LAST = 9;

/** Columns in their order: the result by which runs are compared, what differs, and last what is the same in all. */
export function columnsOf(
  runs: readonly Brief[],
  main: string | null,
  trans: Translator
): RunColumn[] {
  const rank = (column: RunColumn) =>
    column.isConstant
      ? LAST
      : column.id === `best.${main}`
        ? MAIN
        : RANKS[column.kind];
  return allColumns(runs, main, trans)
    .map((column): RunColumn => {
      const isConstant =
        runs.length > 1 &&
        !KEPT.includes(column.kind) &&
        column.id !== `best.${main}` &&
        new Set(runs.map(column.value)).size < 2;
      return {
        ...column,
        isConstant,
        isShown: column.isShown && !isConstant
      };
    })
    .sort((a, b) => rank(a) - rank(b));
}

function allColumns(
  runs: readonly Brief[],
  main: string | null,
  trans: Translator
): Plain[] {
  const text = (
    id: 'model' | 'backend' | 'group',
    label: string,
    isShown: boolean
  ): Plain => ({
    id,
    label,
    kind: id === 'group' ? 'group' : 'text',
    width: id === 'group' ? 130 : 92,
    isShown,
    value: run => run[id] ?? undefined
  });
  return [
    {
      id: 'status',
      label: trans.__('Status'),
      kind: 'status',
      width: 104,
      isShown: true,
      value: run => ORDER.indexOf(run.status)
    },
    {
      id: 'name',
      label: trans.__('Name'),
      kind: 'name',
      width: 236,
      isShown: true,
      value: title
    },
    text('model', trans.__('Model'), true),
    text('backend', trans.__('Backend'), true),
    text(
      'group',
      trans.__('Race or sweep'),
      runs.some(run => run.group)
    ),
    {
      id: 'time',
      label: trans.__('Started'),
      kind: 'moment',
      width: 118,
      isShown: true,
      value: run => number(run.time)
    },
    {
      id: 'seconds',
      label: trans.__('Duration'),
      kind: 'duration',
      width: 90,
      isShown: true,
      value: run => number(run.seconds)
    },
    {
      id: 'epoch',
      label: trans.__('Epoch'),
      kind: 'epochs',
      width: 84,
      isShown: true,
      value: run => number(run.epoch)
    },
    ...figureColumns(runs, main, trans),
    ...settingColumns(runs),
    {
      id: 'tags',
      label: trans.__('Tags'),
      kind: 'tags',
      width: 150,
      isShown: true,
      value: run => [...run.tags].sort().join(', ') || undefined
    },
    {
      id: 'note',
      label: trans.__('Notes'),
      kind: 'note',
      width: 200,
      isShown: true,
      value: run => run.note || undefined
    }
  ];
}

function figureColumns(
  runs: readonly Brief[],
  main: string | null,
  trans: Translator
): Plain[] {
  return figureNames(runs).flatMap((name): Plain[] => [
    {
      id: `figures.${name}`,
      label: name,
      kind: 'figure',
      width: widthOf(name),
      isShown: true,
      value: run => number(run.figures[name])
    },
    {
      id: `best.${name}`,
      label: trans.__('best %1', name),
      kind: 'figure',
      width: widthOf(trans.__('best %1', name)),
      isShown: name === main,
      value: run => number(run.best[name]?.value)
    }
  ]);
}

function settingColumns(runs: readonly Brief[]): Plain[] {
  const { different, same } = split(runs);
  const column = (name: string, isShown: boolean): Plain => ({
    id: `settings.${name}`,
    label: name,
    kind: 'setting',
    width: widthOf(name),
    isShown,
    value: run => sortable(settingsOf(run).get(name))
  });
  return [
    ...different.map(name => column(name, true)),
    ...same.map(name => column(name, runs.length > 1))
  ];
}

/** Width of a column whose heading is shown whole, up to a limit. */
function widthOf(label: string): number {
  return Math.min(200, Math.max(96, 44 + 7.5 * label.length));
}

function sortable(value: Value | undefined): string | number | undefined {
  return typeof value === 'boolean' || value === null ? `${value}` : value;
}
