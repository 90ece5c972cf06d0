// Editable cells of the table of runs: name, tags and note.

import type { ReactNode } from 'react';
import type { Translator } from '../../ui/translator';
import type { Cells } from './cells';
import { EditableText } from '../../ui/EditableText';
import { RunActions } from './RunActions';
import { title, type About, type Brief } from './runs-source';
import { RunSparkline } from './RunSparkline';

interface WordsProps {
  run: Brief;
  cells: Cells;
  trans: Translator;
}

export function NameCell({ run, cells, trans }: WordsProps): JSX.Element {
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
        <EditableText
          value={run.name ?? ''}
          label={trans.__('Name')}
          placeholder={run.id}
          hasOwnButton
          isEdited={cells.renamed === run.path}
          onEnd={cells.endRename}
          onKeep={saveHandler(
            run,
            cells,
            text => ({ name: text.trim() }),
            about => about.name
          )}
          trans={trans}
        >
          {words}
        </EditableText>
      ) : (
        words
      )}
      {cells.renamed !== run.path && (
        <>
          <RunActions run={run} cells={cells} trans={trans} />
          <RunSparkline run={run} />
        </>
      )}
    </span>
  );
}

export function TagsCell({ run, cells, trans }: WordsProps): JSX.Element {
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
    <EditableText
      value={run.tags.join(', ')}
      label={trans.__('Tags')}
      placeholder={trans.__('Tags, separated by commas')}
      onKeep={saveHandler(
        run,
        cells,
        text => ({ tags: tagsIn(text) }),
        about => about.tags.join(', ')
      )}
      trans={trans}
    >
      {chips}
    </EditableText>
  ) : (
    <>{chips}</>
  );
}

export function NoteCell({ run, cells, trans }: WordsProps): JSX.Element {
  return cells.write ? (
    <EditableText
      value={run.note ?? ''}
      label={trans.__('Notes')}
      placeholder={trans.__('Add a note')}
      onKeep={saveHandler(
        run,
        cells,
        text => ({ note: text }),
        about => about.note
      )}
      trans={trans}
    >
      {run.note || <Hint text={trans.__('Add a note')} />}
    </EditableText>
  ) : (
    <span title={run.note ?? ''}>{run.note}</span>
  );
}

/** Hint that the style sheet shows under pointer or focus. */
function Hint({ text }: { text: string }): JSX.Element {
  return <span className="labdl-runs-hint">{text}</span>;
}

export function tagsIn(text: string): string[] {
  return [...new Set(text.split(',').map(tag => tag.trim()))].filter(Boolean);
}

/** Handler that saves one of the texts, unless another page has changed it since it was displayed. */
function saveHandler(
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
