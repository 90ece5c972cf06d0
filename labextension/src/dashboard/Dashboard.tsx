// The live dashboard of one run.

import { useEffect, useId, useMemo, useSyncExternalStore } from 'react';
import { Chart } from './Chart';
import { Commands } from './Commands';
import { useSend } from './sending';
import { Epochs } from './Epochs';
import { Fields } from './Fields';
import { moment } from './format';
import { Progress } from './Progress';
import { ShowWhere } from './ShowWhere';
import type { RunStatus } from './run-state';
import type { RunSource } from './source';
import { RunStore } from './store';
import type { Translator } from './translator';

/** The statuses in which a run can be changed, or is about to end. */
const GOING: readonly RunStatus[] = ['running', 'paused', 'stopping'];

export interface DashboardProps {
  source: RunSource;
  trans: Translator;
  /** Shown in place of the model's name. */
  title?: string;
  /** Shows the layer in which a failure happened. */
  onShow?: (layer: string) => void;
}

export function Dashboard({
  source,
  trans,
  title,
  onShow
}: DashboardProps): JSX.Element {
  const store = useMemo(() => new RunStore(), [source]);
  useEffect(
    () => source.subscribe((events, alive) => store.push(events, alive)),
    [source, store]
  );
  const view = useSyncExternalStore(store.subscribe, store.view);
  const send = useSend(store, source, view.pending, trans);
  const syncKey = useId();
  const name = title ?? view.model ?? trans.__('Training run');

  return (
    <section
      className="labdl-dashboard"
      data-status={view.status}
      aria-label={trans.__('Training dashboard: %1', name)}
    >
      <header className="labdl-dashboard-header">
        <span className="labdl-dashboard-title" title={name}>
          {name}
        </span>
        {view.backend && (
          <span className="labdl-dashboard-backend">{view.backend}</span>
        )}
        <span className="labdl-dashboard-status" role="status">
          {statusLabel(view.status, trans)}
        </span>
        <Commands view={view} send={send} trans={trans} />
      </header>
      {view.status === 'failed' && (
        <div className="labdl-dashboard-message" role="alert">
          {view.message ?? trans.__('The run failed without a message.')}
          {onShow && view.place?.node && (
            <ShowWhere place={view.place} onShow={onShow} trans={trans} />
          )}
        </div>
      )}
      {view.status === 'stopped' && view.message && (
        <p className="labdl-dashboard-note">{view.message}</p>
      )}
      {view.status === 'lost' && (
        <p className="labdl-dashboard-note" role="status">
          {trans.__('The process of this run has ended')}
        </p>
      )}
      {view.trouble && (
        <p className="labdl-dashboard-note" role="status">
          {view.trouble}
        </p>
      )}
      {view.problem && (
        <p className="labdl-dashboard-note" role="status">
          {trans.__('%1: %2', moment(view.problem.time), view.problem.message)}
        </p>
      )}
      {view.status !== 'waiting' && <Progress view={view} trans={trans} />}
      {GOING.includes(view.status) && (
        <Fields view={view} send={send} trans={trans} />
      )}
      {view.step === 0 &&
      (view.status === 'waiting' || view.status === 'running') ? (
        <p className="labdl-dashboard-empty">
          {trans.__('Waiting for the first batch…')}
        </p>
      ) : (
        <div className="labdl-dashboard-charts">
          {view.metrics
            .filter(
              metric => metric.train.x.length || metric.validation.x.length
            )
            .map(metric => (
              <Chart
                key={metric.name}
                metric={metric}
                syncKey={syncKey}
                trans={trans}
              />
            ))}
        </div>
      )}
      <Epochs rows={view.epochTable} trans={trans} />
    </section>
  );
}

function statusLabel(status: RunStatus, trans: Translator): string {
  const labels: Record<RunStatus, string> = {
    waiting: trans.__('Waiting'),
    running: trans.__('Running'),
    paused: trans.__('Paused'),
    stopping: trans.__('Stopping…'),
    finished: trans.__('Finished'),
    stopped: trans.__('Stopped'),
    failed: trans.__('Failed'),
    lost: trans.__('Ended')
  };
  return labels[status];
}
