// Cells of the table of runs, for each kind of column.

import { formatCount, formatNumber } from '../../ui/number-format';
import type { Translator } from '../../ui/translator';
import type { RunColumn } from './columns';
import { settingsOf } from './settings';
import type { About, Brief } from './runs-source';
import { StatusBadge } from './StatusBadge';
import { NameCell, NoteCell, TagsCell } from './text-cells';
import { epochLabel, secondsLabel, settingLabel, startLabel } from './run-text';

/** Actions on a run from its row; those that a host does not offer are missing. */
export interface Cells {
  open?: (run: Brief) => void;
  openFolder?: (path: string) => void;
  remove?: (run: Brief) => void;
  rename?: (run: Brief) => void;
  /** Resolves to null, or to the values that another page has written in the meantime. */
  write?: (
    run: Brief,
    words: Partial<About>,
    before: Partial<About>
  ) => Promise<About | null>;
  /** Run whose name is being edited. */
  renamed: string | null;
  endRename: () => void;
}

interface CellProps {
  column: RunColumn;
  run: Brief;
  cells: Cells;
  trans: Translator;
}

export function Cell({ column, run, cells, trans }: CellProps): JSX.Element {
  switch (column.kind) {
    case 'status':
      return <StatusBadge run={run} trans={trans} />;
    case 'name':
      return <NameCell run={run} cells={cells} trans={trans} />;
    case 'group':
      return <GroupCell run={run} cells={cells} trans={trans} />;
    case 'moment':
      return (
        <Words
          text={startLabel(run.time)}
          full={
            run.time === null ? '' : new Date(run.time * 1000).toLocaleString()
          }
        />
      );
    case 'duration':
      return <>{secondsLabel(run.seconds)}</>;
    case 'epochs':
      return (
        <Words
          text={epochLabel(run)}
          full={
            run.step === null ? '' : trans.__('step %1', formatCount(run.step))
          }
        />
      );
    case 'figure':
      return <FigureCell column={column} run={run} trans={trans} />;
    case 'setting':
      return <Words text={settingLabel(settingsOf(run).get(column.label))} />;
    case 'tags':
      return <TagsCell run={run} cells={cells} trans={trans} />;
    case 'note':
      return <NoteCell run={run} cells={cells} trans={trans} />;
    default:
      return <Words text={`${column.value(run) ?? '–'}`} />;
  }
}

/** Name of the race or sweep of a run, which lies in the parent folder. */
function GroupCell({
  run,
  cells,
  trans
}: Omit<CellProps, 'column'>): JSX.Element {
  const folder = run.path.split('/').slice(0, -1).join('/');
  return run.group && folder && cells.openFolder ? (
    <button
      type="button"
      className="labdl-runs-link"
      title={trans.__('Show the runs of %1', run.group)}
      onClick={() => cells.openFolder?.(folder)}
    >
      {run.group}
    </button>
  ) : (
    <Words text={run.group ?? '–'} />
  );
}

function Words({ text, full }: { text: string; full?: string }): JSX.Element {
  return <span title={full || text}>{text}</span>;
}

function FigureCell({
  column,
  run,
  trans
}: Omit<CellProps, 'cells'>): JSX.Element {
  const [kind, name] = [
    column.id.split('.', 1)[0],
    column.id.slice(column.id.indexOf('.') + 1)
  ];
  const best = kind === 'best' ? run.best[name] : undefined;
  const value = kind === 'best' ? best?.value : run.figures[name];
  return (
    <span title={best?.epoch ? trans.__('in epoch %1', best.epoch) : undefined}>
      {formatNumber(value)}
    </span>
  );
}
