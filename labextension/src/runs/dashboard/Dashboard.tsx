// Live dashboard of one run.

import {
  useCallback,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore
} from 'react';
import { Commands } from './Commands';
import { RunFields } from './RunFields';
import { Messages } from './Messages';
import { Overview } from './Overview';
import type { Steps } from '../charts/plot-content';
import { Progress } from './Progress';
import { isGoing } from '../store/progress';
import { useSend } from '../store/send-command';
import type { RunSource } from '../store/source';
import { statusLabel } from './status-text';
import { storeOf } from '../store/store';
import { DashboardTabs } from '../tabs/DashboardTabs';
import type { Translator } from '../../ui/translator';

/** Range shown around a selected step, as a fraction of the run. */
const AROUND = 0.05;

export interface DashboardProps {
  source: RunSource;
  trans: Translator;
  /** Replaces the model's name. */
  title?: string;
  /** Shows the layer in which a failure occurred. */
  onShow?: (layer: string) => void;
}

export function Dashboard({
  source,
  trans,
  title,
  onShow
}: DashboardProps): JSX.Element {
  const store = useMemo(() => storeOf(source), [source]);
  useEffect(() => store.follow(source), [source, store]);
  const view = useSyncExternalStore(store.subscribe, store.view);
  const send = useSend(store, source, view.pending, trans);
  const [zoom, setZoom] = useState<Steps | null>(null);
  const showStep = useCallback(
    (step: number) => {
      const last = store.view().step;
      const around = Math.max(5, last * AROUND);
      setZoom([Math.max(0, step - around), Math.min(last, step + around)]);
    },
    [store]
  );
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
      <Messages view={view} onShow={onShow} trans={trans} />
      <div className="labdl-dashboard-now">
        {view.status !== 'waiting' && <Progress view={view} trans={trans} />}
        {isGoing(view.status) && (
          <RunFields view={view} send={send} trans={trans} />
        )}
      </div>
      <DashboardTabs
        view={view}
        source={source}
        trans={trans}
        onShow={onShow}
        onStep={showStep}
      >
        <Overview run={view} zoom={zoom} setZoom={setZoom} trans={trans} />
      </DashboardTabs>
    </section>
  );
}
