// Dialog over the table that confirms the deletion of a run.

import { useEffect, useRef } from 'react';
import type { Translator } from '../../ui/translator';
import { title, type Brief } from './runs-source';

interface DeleteRunDialogProps {
  run: Brief;
  onRemove: () => void;
  onCancel: () => void;
  trans: Translator;
}

export function DeleteRunDialog(props: DeleteRunDialogProps): JSX.Element {
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
          'Delete %1 with its curves, checkpoints and code? JupyterLab moves deleted files to the trash if it is configured to.',
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
