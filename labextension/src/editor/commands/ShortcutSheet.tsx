// Sheet of the keys and gestures of the canvas.
import { KeyboardEvent, useEffect, useId, useRef } from 'react';

import { useEditorContext } from '../context';
import { IconButton } from '../../ui/Icon';
import { Translator } from '../../ui/translator';
import { formatKeys, SHORTCUTS } from './key-bindings';

export function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const { shortcuts, trans } = useEditorContext();
  const sheet = useRef<HTMLDivElement>(null);
  const title = useId();
  useEffect(() => sheet.current?.focus({ preventScroll: true }), []);

  const keyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === 'Escape' || event.key === '?') {
      event.preventDefault();
      onClose();
    }
  };
  const keys: [string, string[]][] = SHORTCUTS.map(({ command, label }) => [
    label(trans),
    shortcuts.keysOf(command).map(formatKeys)
  ]);
  return (
    <div
      ref={sheet}
      className="labdl-shortcuts nokey"
      role="dialog"
      aria-labelledby={title}
      tabIndex={-1}
      onKeyDown={keyDown}
      onBlur={event => {
        const next = event.relatedTarget;
        if (next && !event.currentTarget.contains(next)) {
          onClose();
        }
      }}
    >
      <div className="labdl-shortcuts-head">
        <h2 id={title}>{trans.__('Keys of the canvas')}</h2>
        <IconButton icon="close" label={trans.__('Close')} onClick={onClose} />
      </div>
      <dl>
        {keys
          .filter(([, strokes]) => strokes.length)
          .map(([label, strokes]) => (
            <Line key={label} label={label} strokes={strokes} />
          ))}
        {gestures(trans).map(([label, stroke]) => (
          <Line key={label} label={label} strokes={[stroke]} />
        ))}
      </dl>
    </div>
  );
}

function Line({ label, strokes }: { label: string; strokes: string[] }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {strokes.map(stroke => (
          <kbd key={stroke}>{stroke}</kbd>
        ))}
      </dd>
    </div>
  );
}

/** What mouse and arrow keys do, and how. */
function gestures(trans: Translator): [string, string][] {
  const accel = formatKeys('Accel');
  return [
    [trans.__('Select one'), trans.__('Click')],
    [
      trans.__('Add to or remove from the selection'),
      trans.__('Shift or %1 + click', accel)
    ],
    [trans.__('Select an area'), trans.__('Shift + drag')],
    [trans.__('Rename a layer, enter a block'), trans.__('Double-click')],
    [trans.__('Move the selected layers'), trans.__('Arrow keys')]
  ];
}
