// The state of a run, with the mark that has its colour.

import { statusWord } from '../dashboard/status-words';
import type { Translator } from '../dashboard/translator';
import type { Brief } from './source';

export function StatusBadge(props: {
  run: Brief;
  trans: Translator;
}): JSX.Element {
  const { run, trans } = props;
  return (
    <span
      className="labdl-runs-status"
      data-status={run.status}
      title={run.message ?? undefined}
    >
      {statusWord(run.status, trans)}
    </span>
  );
}
