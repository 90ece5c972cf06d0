// Asks before a run is deleted, over the table.

import { useEffect, useRef } from 'react';
import type { Translator } from '../dashboard/translator';
import { title, type Brief } from './source';

interface RemovalProps {
  run: Brief;
  onRemove: () => void;
  onCancel: () => void;
  trans: Translator;
}

export function Removal(props: RemovalProps): JSX.Element {
  const { run, onRemove, onCancel, trans } = props;
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => cancel.current?.focus(), [run.path]);
  return (
    <div
      className="labdl-runs-notice"
      role="alertdialog"
      aria-label={trans.__('Delete the run?')}
      onKeyDown={event => event.key === 'Escape' && onCancel()}
    >
      <span>
        {trans.__(
          'Delete %1 with its curves, checkpoints and code? It goes where JupyterLab puts deleted files.',
          title(run)
        )}
      </span>
      <button type="button" className="labdl-mod-warn" onClick={onRemove}>
        {trans.__('Delete')}
      </button>
      <button type="button" ref={cancel} onClick={onCancel}>
        {trans.__('Cancel')}
      </button>
    </div>
  );
}
