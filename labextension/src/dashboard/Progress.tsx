// How far the run is: bar, epoch, time and speed.

import { useEffect, useState } from 'react';
import { count, duration, setting } from './format';
import type { RunView } from './store';
import type { Translator } from './translator';

/** Seconds trained, going on between events while the run is running. */
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
      ? trans.__('Epoch %1', count(view.epoch))
      : trans.__('Epoch %1 of %2', count(view.epoch), count(view.epochs));
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
              ? count(view.step)
              : `${count(view.step)} / ${count(view.totalSteps)}`
          }
        />
        <Fact
          name={trans.__('elapsed')}
          value={duration(elapsed)}
          title={trans.__('Time trained, without pauses')}
        />
        {view.remaining !== null && (
          <Fact name={trans.__('remaining')} value={duration(view.remaining)} />
        )}
        {view.throughput !== null && (
          <Fact
            name={trans.__('speed')}
            value={trans.__('%1 samples/s', count(view.throughput))}
          />
        )}
        {view.rate.now !== null && (
          <Fact
            name={trans.__('learning rate')}
            value={setting(view.rate.now)}
            title={
              view.rate.setAt === null
                ? undefined
                : trans.__('Set by hand after step %1', count(view.rate.setAt))
            }
          />
        )}
        {view.checkpoint && (
          <Fact
            name={trans.__('checkpoint')}
            value={trans.__('step %1', count(view.checkpoint.step))}
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
