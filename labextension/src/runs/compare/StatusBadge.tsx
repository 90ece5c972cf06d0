// Status of a run as a colored badge.

import { statusLabel } from '../dashboard/status-text';
import type { Translator } from '../../ui/translator';
import type { Brief } from './runs-source';

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
      {statusLabel(run.status, trans)}
    </span>
  );
}
