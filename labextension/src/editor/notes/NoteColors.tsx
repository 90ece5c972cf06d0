// Hues of notes as a row of buttons.
import { useRef } from 'react';

import { useEditorContext } from '../context';
import { colorName, COLORS } from './notes';
import { useReturnFocus } from './note-focus';

export interface NoteColorsProps {
  color: string;
  onChange: (color: string) => void;
}

export function NoteColors({ color, onChange }: NoteColorsProps) {
  const { trans } = useEditorContext();
  const row = useRef<HTMLDivElement>(null);
  useReturnFocus(row);
  return (
    <div
      ref={row}
      className="labdl-note-colors nokey nopan"
      role="group"
      aria-label={trans.__('Color of the note')}
    >
      {COLORS.map(one => (
        <button
          key={one}
          type="button"
          className="labdl-note-color"
          data-color={one}
          title={colorName(one, trans)}
          aria-label={colorName(one, trans)}
          aria-pressed={one === color}
          onClick={() => onChange(one)}
        />
      ))}
    </div>
  );
}
