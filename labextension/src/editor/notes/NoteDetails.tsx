// Properties of the selected notes: text, color and size.
import { useState } from 'react';

import { EditorActions } from '../commands/actions';
import { Button } from '../../ui/Button';
import { useEditorContext } from '../context';
import { GraphDocument } from '../model/document';
import { NoteData } from '../model/graph-data';
import { NoteColors } from './NoteColors';
import { LONGEST, Notes, SMALLEST } from './notes';

export interface NoteDetailsProps {
  document: GraphDocument;
  notes: Notes;
  ids: string[];
  actions: EditorActions;
}

const LARGEST = 20_000;

export function NoteDetails({
  document,
  notes,
  ids,
  actions
}: NoteDetailsProps) {
  const { trans } = useEditorContext();
  const change = (values: Partial<NoteData>, typing?: string) =>
    document.patch(
      {
        notes: Object.fromEntries(
          ids.map(id => [id, { ...notes[id], ...values }])
        )
      },
      typing
    );
  const [id] = ids;
  const note = notes[id];
  const sides = [
    ['width', trans.__('Width')],
    ['height', trans.__('Height')]
  ] as const;
  return (
    <>
      <h2 className="labdl-inspector-title">
        {ids.length === 1
          ? trans.__('Note')
          : trans._n('%1 note', '%1 notes', ids.length)}
      </h2>
      <p className="labdl-inspector-summary">
        {trans.__('A note for readers; it does not affect the model.')}
      </p>
      {ids.length === 1 && (
        <div className="labdl-field">
          <label htmlFor="labdl-note-text">{trans.__('Text')}</label>
          <textarea
            id="labdl-note-text"
            className="labdl-input labdl-note-field"
            rows={5}
            maxLength={LONGEST}
            value={note.text}
            onChange={event => {
              const text = event.target.value.replaceAll('\0', '');
              change({ text }, `text of ${id}`);
            }}
            onBlur={() => document.endTyping()}
          />
        </div>
      )}
      <div className="labdl-field">
        <label>{trans.__('Color')}</label>
        <NoteColors color={note.color} onChange={color => change({ color })} />
      </div>
      {ids.length === 1 && (
        <div className="labdl-note-sides">
          {sides.map(([side, label]) => (
            <SideField
              key={side}
              id={`labdl-note-${side}`}
              label={label}
              value={Math.round(note[side])}
              least={SMALLEST[side]}
              onChange={size => change({ [side]: size }, `${side} of ${id}`)}
              onDone={() => document.endTyping()}
            />
          ))}
        </div>
      )}
      <div className="labdl-inspector-buttons">
        <Button onClick={actions.duplicate}>{trans.__('Duplicate')}</Button>
        <Button onClick={actions.deleteSelection}>{trans.__('Delete')}</Button>
      </div>
    </>
  );
}

interface SideFieldProps {
  id: string;
  label: string;
  value: number;
  least: number;
  onChange: (size: number) => void;
  onDone: () => void;
}

function SideField(props: SideFieldProps) {
  /** Input that is not a valid size yet. */
  const [text, setText] = useState<string | null>(null);
  return (
    <div className="labdl-field">
      <label htmlFor={props.id}>{props.label}</label>
      <input
        id={props.id}
        className="labdl-input"
        type="number"
        step={20}
        min={props.least}
        max={LARGEST}
        value={text ?? props.value}
        onChange={event => {
          setText(event.target.value);
          const size = Math.round(event.target.valueAsNumber);
          if (size >= props.least && size <= LARGEST) {
            props.onChange(size);
          }
        }}
        onBlur={() => {
          setText(null);
          props.onDone();
        }}
      />
    </div>
  );
}
