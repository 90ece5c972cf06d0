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
  /** Sort key; undefined comes last in both directions. */
  readonly value: (run: Brief) => string | number | undefined;
}

/** Sort order of the statuses: active ones first, then by success. */
const ORDER = ['running', 'paused', 'stopping', 'waiting', 'finished', 'stopped', 'failed', 'lost', 'unreadable']; // prettier-ignore

const number = (value: number | null | undefined) =>
  value === null || value === undefined || !Number.isFinite(value)
    ? undefined
    : value;

export function columnsOf(
  runs: readonly Brief[],
  trans: Translator
): RunColumn[] {
  const text = (
    id: 'model' | 'backend' | 'group',
    label: string,
    isShown: boolean
  ): RunColumn => ({
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
    ...figureColumns(runs, trans),
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

function figureColumns(runs: readonly Brief[], trans: Translator): RunColumn[] {
  const names = figureNames(runs);
  const judged = names.includes('val_loss') ? 'val_loss' : 'loss';
  return names.flatMap((name): RunColumn[] => [
    {
      id: `figures.${name}`,
      label: name,
      kind: 'figure',
      width: 96,
      isShown: true,
      value: run => number(run.figures[name])
    },
    {
      id: `best.${name}`,
      label: trans.__('best %1', name),
      kind: 'figure',
      width: 112,
      isShown: name === judged,
      value: run => number(run.best[name]?.value)
    }
  ]);
}

function settingColumns(runs: readonly Brief[]): RunColumn[] {
  const { different, same } = split(runs);
  const column = (name: string, isShown: boolean): RunColumn => ({
    id: `settings.${name}`,
    label: name,
    kind: 'setting',
    width: Math.min(180, Math.max(96, 34 + 7 * name.length)),
    isShown,
    value: run => sortable(settingsOf(run).get(name))
  });
  return [
    ...different.map(name => column(name, true)),
    ...same.map(name => column(name, false))
  ];
}

function sortable(value: Value | undefined): string | number | undefined {
  return typeof value === 'boolean' || value === null ? `${value}` : value;
}
