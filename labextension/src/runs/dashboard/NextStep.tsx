// What to do about a run whose process is gone, that failed or was stopped: resume from its last checkpoint.

import { CopyButton } from '../../ui/CopyButton';
import { formatCount } from '../../ui/number-format';
import type { RunView } from '../store/store';
import type { Translator } from '../../ui/translator';

export function NextStep({
  view,
  trans
}: {
  view: RunView;
  trans: Translator;
}): JSX.Element | null {
  const { status, checkpoint } = view;
  const isOver = status === 'failed' || status === 'stopped';
  if (status !== 'lost' && !(isOver && checkpoint)) {
    return null;
  }
  if (!checkpoint) {
    return (
      <p className="labdl-dashboard-next">
        {trans.__(
          'It has no checkpoint to resume from: train again, with checkpoint=labdl.train.Checkpoint(folder) to be able to resume next time.'
        )}
      </p>
    );
  }
  // JSON and Python write such a text in the same way
  const code = `run = trainer.start(data, resume=${JSON.stringify(checkpoint.path)})`;
  return (
    <div className="labdl-dashboard-next">
      {trans.__(
        'Resume it from its checkpoint of step %1:',
        formatCount(checkpoint.step)
      )}{' '}
      <code dir="ltr">{code}</code>{' '}
      <CopyButton label={trans.__('Copy')} text={() => code} trans={trans} />
    </div>
  );
}
