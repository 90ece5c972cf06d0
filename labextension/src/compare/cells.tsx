// What stands in the table of runs for each kind of column.

import type { ReactNode } from 'react';
import { count, figure } from '../dashboard/format';
import { lineOf } from '../dashboard/Sparkline';
import type { Translator } from '../dashboard/translator';
import type { RunColumn } from './columns';
import { Editable } from './Editable';
import { RunActions } from './RunActions';
import { settingsOf } from './settings';
import { title, type About, type Brief } from './source';
import {
  epochWord,
  secondsWord,
  settingWord,
  startWord,
  statusWord
} from './words';

/** What can be done to a run from its row; what a host does not offer is missing. */
export interface Cells {
  open?: (run: Brief) => void;
  openFolder?: (path: string) => void;
  remove?: (run: Brief) => void;
  rename?: (run: Brief) => void;
  /** Null, or what another has written meanwhile. */
  write?: (
    run: Brief,
    words: Partial<About>,
    before: Partial<About>
  ) => Promise<About | null>;
  /** The run whose name is edited. */
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
      return (
        <span
          className="labdl-runs-status"
          data-status={run.status}
          title={run.message ?? undefined}
        >
          {statusWord(run.status, trans)}
        </span>
      );
    case 'name':
      return <NameCell run={run} cells={cells} trans={trans} />;
    case 'group':
      return <GroupCell run={run} cells={cells} trans={trans} />;
    case 'moment':
      return (
        <Words
          text={startWord(run.time)}
          full={
            run.time === null ? '' : new Date(run.time * 1000).toLocaleString()
          }
        />
      );
    case 'duration':
      return <>{secondsWord(run.seconds)}</>;
    case 'epochs':
      return (
        <Words
          text={epochWord(run)}
          full={run.step === null ? '' : trans.__('step %1', count(run.step))}
        />
      );
    case 'figure':
      return <FigureCell column={column} run={run} trans={trans} />;
    case 'setting':
      return <Words text={settingWord(settingsOf(run).get(column.label))} />;
    case 'tags':
      return <TagsCell run={run} cells={cells} trans={trans} />;
    case 'note':
      return <NoteCell run={run} cells={cells} trans={trans} />;
    default:
      return <Words text={`${column.value(run) ?? '–'}`} />;
  }
}

/** The race or sweep of a run lies in the folder above it. */
function GroupCell({ run, cells, trans }: Own): JSX.Element {
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
      {figure(value)}
    </span>
  );
}

type Own = Omit<CellProps, 'column'>;

function NameCell({ run, cells, trans }: Own): JSX.Element {
  const name = title(run);
  const words = (
    <span
      className="labdl-runs-name"
      title={name === run.path ? name : `${name}\n${run.path}`}
    >
      {name}
    </span>
  );
  return (
    <span className="labdl-runs-named">
      {cells.write ? (
        <Editable
          value={run.name ?? ''}
          label={trans.__('Name')}
          placeholder={run.id}
          hasOwnButton
          isEdited={cells.renamed === run.path}
          onEnd={cells.endRename}
          onKeep={keeper(
            run,
            cells,
            text => ({ name: text.trim() }),
            about => about.name
          )}
          trans={trans}
        >
          {words}
        </Editable>
      ) : (
        words
      )}
      {cells.renamed !== run.path && (
        <>
          <RunActions run={run} cells={cells} trans={trans} />
          <Spark run={run} />
        </>
      )}
    </span>
  );
}

function Spark({ run }: { run: Brief }): JSX.Element | null {
  return run.spark.length ? (
    <svg
      className="labdl-runs-spark"
      viewBox="0 0 60 14"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path
        d={lineOf(
          run.spark.map(value => value ?? NaN),
          false
        )}
      />
    </svg>
  ) : null;
}

function TagsCell({ run, cells, trans }: Own): JSX.Element {
  const chips: ReactNode = run.tags.length ? (
    run.tags.map(tag => (
      <span className="labdl-runs-tag" key={tag}>
        {tag}
      </span>
    ))
  ) : (
    <Hint text={cells.write ? trans.__('Add tags') : ''} />
  );
  return cells.write ? (
    <Editable
      value={run.tags.join(', ')}
      label={trans.__('Tags')}
      placeholder={trans.__('Tags, with commas')}
      onKeep={keeper(
        run,
        cells,
        text => ({ tags: tagsIn(text) }),
        about => about.tags.join(', ')
      )}
      trans={trans}
    >
      {chips}
    </Editable>
  ) : (
    <>{chips}</>
  );
}

function NoteCell({ run, cells, trans }: Own): JSX.Element {
  return cells.write ? (
    <Editable
      value={run.note ?? ''}
      label={trans.__('Notes')}
      placeholder={trans.__('Add a note')}
      onKeep={keeper(
        run,
        cells,
        text => ({ note: text }),
        about => about.note
      )}
      trans={trans}
    >
      {run.note || <Hint text={trans.__('Add a note')} />}
    </Editable>
  ) : (
    <Words text={run.note ?? ''} />
  );
}

/** Seen when the mouse or the keyboard is there. */
function Hint({ text }: { text: string }): JSX.Element {
  return <span className="labdl-runs-hint">{text}</span>;
}

export function tagsIn(text: string): string[] {
  return [...new Set(text.split(',').map(tag => tag.trim()))].filter(Boolean);
}

/** Keeps one of the things that people write, unless it was changed since the writer saw it. */
function keeper(
  run: Brief,
  cells: Cells,
  words: (text: string) => Partial<About>,
  shown: (about: About) => string
): (text: string, before: string) => Promise<string | null> {
  return async (text, before) => {
    const other = await cells.write?.(run, words(text), words(before));
    return other ? shown(other) : null;
  };
}
