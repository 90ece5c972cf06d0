// Node of a note on the canvas; a double-click edits its text.
import { Node, NodeProps, NodeResizer, NodeToolbar } from '@xyflow/react';
import { memo, useEffect, useRef, useState, useSyncExternalStore } from 'react';

import { useEditorContext } from '../context';
import { NoteData } from '../model/graph-data';
import { NoteColors } from './NoteColors';
import { NoteEditing } from './note-editing';
import { LONGEST, SMALLEST } from './notes';
import { useReturnFocus } from './note-focus';
import { useLock } from '../model/useLock';

export interface NoteNodeData extends Record<string, unknown> {
  note: NoteData;
  pad: NoteEditing;
}

export type NoteFlowNode = Node<NoteNodeData, 'note'>;

export const NoteNode = memo(function NoteNode({
  id,
  data,
  selected
}: NodeProps<NoteFlowNode>) {
  const { note, pad } = data;
  const { trans } = useEditorContext();
  const isLocked = useLock(pad.document) !== null;
  const isWritten = useSyncExternalStore(
    pad.subscribe,
    () => pad.state() === id
  );
  const mayChange = selected && !isLocked;
  const box = useRef<HTMLDivElement>(null);
  useReturnFocus(box, '.react-flow__node');
  return (
    <div
      ref={box}
      className={[
        'labdl-note',
        selected ? 'labdl-mod-selected' : '',
        isWritten ? 'labdl-mod-written' : ''
      ].join(' ')}
      data-color={note.color}
    >
      <NodeToolbar
        isVisible={mayChange && !isWritten ? undefined : false}
        // above the layers, although the note is behind them
        style={{ zIndex: 5 }}
      >
        <NoteColors
          color={note.color}
          onChange={color => pad.change(id, { color })}
        />
      </NodeToolbar>
      <NodeResizer
        isVisible={mayChange}
        minWidth={SMALLEST.width}
        minHeight={SMALLEST.height}
        lineClassName="labdl-note-edge"
        handleClassName="labdl-note-corner"
        onResizeStart={() => {
          pad.resizing = id;
        }}
        onResizeEnd={(_, { x, y, width, height }) => {
          pad.resizing = null;
          const [left, top, wide, high] = [x, y, width, height].map(Math.round);
          pad.change(id, { x: left, y: top, width: wide, height: high });
        }}
      />
      {isWritten ? (
        <NoteTextField id={id} text={note.text} pad={pad} />
      ) : (
        <div className={`labdl-note-text ${selected ? 'nowheel' : ''}`}>
          {note.text || (
            <span className="labdl-note-hint">
              {trans.__('Double-click to write')}
            </span>
          )}
        </div>
      )}
    </div>
  );
});

interface NoteTextFieldProps {
  id: string;
  text: string;
  pad: NoteEditing;
}

function NoteTextField({ id, text, pad }: NoteTextFieldProps) {
  const { trans } = useEditorContext();
  const field = useRef<HTMLTextAreaElement>(null);
  const [draft, setDraft] = useState(text);
  const written = useRef(text);
  useEffect(() => {
    // The text was changed elsewhere: by undo or by another user.
    if (text !== written.current) {
      written.current = text;
      setDraft(text);
    }
  }, [text]);
  useEffect(() => {
    const { current } = field;
    current?.focus({ preventScroll: true });
    current?.setSelectionRange(current.value.length, current.value.length);
    return () => pad.leave(id);
  }, [pad, id]);
  return (
    <textarea
      ref={field}
      className="labdl-note-text nodrag nopan nowheel nokey"
      aria-label={trans.__('Text of the note')}
      placeholder={trans.__('Write a note')}
      maxLength={LONGEST}
      value={draft}
      onChange={event => {
        const { value, scrollHeight } = event.target;
        written.current = value;
        setDraft(value);
        pad.type(id, value, scrollHeight + 2);
      }}
      onBlur={() => pad.leave(id)}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          // The note takes the focus when its text field closes.
          event.currentTarget
            .closest<HTMLElement>('.react-flow__node')
            ?.focus({ preventScroll: true });
          pad.leave(id);
        }
      }}
    />
  );
}
