// Progress of a run: bar, epoch, time and speed.

import { useEffect, useState } from 'react';
import { formatCount, formatDuration } from '../../ui/number-format';
import type { RunView } from '../store/store';
import type { Translator } from '../../ui/translator';

/** Seconds of training, extrapolated between events while the run is running. */
function useElapsed(view: RunView): number {
  const ticking = view.status === 'running' || view.status === 'stopping';
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (ticking) {
      const timer = setInterval(() => setNow(Date.now()), 1000);
      return () => clearInterval(timer);
    }
    return undefined;
  }, [ticking]);
  return (
    view.elapsed + (ticking ? Math.max(0, now - view.receivedAt) / 1000 : 0)
  );
}

export function Progress({
  view,
  trans
}: {
  view: RunView;
  trans: Translator;
}): JSX.Element {
  const elapsed = useElapsed(view);
  const percent =
    view.progress === null ? null : Math.round(view.progress * 100);
  const epoch =
    view.epochs === null
      ? trans.__('Epoch %1', formatCount(view.epoch))
      : trans.__(
          'Epoch %1 of %2',
          formatCount(view.epoch),
          formatCount(view.epochs)
        );
  return (
    <div className="labdl-dashboard-progress">
      <div
        className="labdl-dashboard-bar"
        role="progressbar"
        aria-label={trans.__('Training progress')}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent ?? undefined}
      >
        <div
          className="labdl-dashboard-bar-done"
          style={{ width: `${(view.progress ?? 0) * 100}%` }}
        />
      </div>
      <div className="labdl-dashboard-facts">
        <span className="labdl-dashboard-epoch">{epoch}</span>
        <Fact
          name={trans.__('step')}
          value={
            view.totalSteps === null
              ? formatCount(view.step)
              : `${formatCount(view.step)} / ${formatCount(view.totalSteps)}`
          }
        />
        <Fact
          name={trans.__('elapsed')}
          value={formatDuration(elapsed)}
          title={trans.__('Training time without pauses')}
        />
        {view.remaining !== null && (
          <Fact
            name={trans.__('remaining')}
            value={formatDuration(view.remaining)}
          />
        )}
        {view.throughput !== null && (
          <Fact
            name={trans.__('throughput')}
            value={trans.__('%1 samples/s', formatCount(view.throughput))}
          />
        )}
        {view.checkpoint && (
          <Fact
            name={trans.__('checkpoint')}
            value={trans.__('step %1', formatCount(view.checkpoint.step))}
            title={view.checkpoint.path}
          />
        )}
      </div>
    </div>
  );
}

function Fact({
  name,
  value,
  title
}: {
  name: string;
  value: string;
  title?: string;
}): JSX.Element {
  return (
    <span className="labdl-dashboard-fact" title={title}>
      {name} <b>{value}</b>
    </span>
  );
}
