// Health of the selected layer: its measurements, each with its history.
import { useSyncExternalStore } from 'react';

import { Sparkline } from '../../runs/charts/Sparkline';
import type { HealthFigure } from '../../runs/store/health-figures';
import { stateText } from '../../runs/dashboard/health-text';
import { useEditorContext } from '../context';
import { faultText, healthFacts, measuredText } from './health-text';
import { Icon } from '../../ui/Icon';
import { CollapsibleSection } from '../inspector/CollapsibleSection';

/** Figures that are plotted on a logarithmic scale. */
const LOGARITHMIC: readonly HealthFigure[] = [
  'gradient',
  'update',
  'weights',
  'largest',
  'std'
];

export function HealthDetails({ id }: { id: string }) {
  const { health, trans } = useEditorContext();
  const { store } = health;
  const { isStale, isShown } = useSyncExternalStore(
    store.subscribe,
    store.state
  );
  const figures = useSyncExternalStore(store.subscribe, () =>
    store.figures(id)
  );
  const strip = useSyncExternalStore(store.subscribe, () => store.strip(id));
  const fault = useSyncExternalStore(store.subscribe, store.fault);
  const isFault = fault?.id === id;
  if (!isShown || (!figures && !isFault)) {
    return null;
  }
  const measured = store.measured();
  const isBad = isFault || (strip && strip.state !== 'fine');
  return (
    <CollapsibleSection name="health" title={trans.__('Training')}>
      {isStale && (
        <p className="labdl-stale-note">
          {trans.__('The model has changed since the training started.')}
        </p>
      )}
      <div className={isStale ? 'labdl-mod-stale' : ''}>
        {isBad && (
          <p className="labdl-health-note" data-state={strip?.state}>
            <Icon name="warning" />
            <span>
              {isFault
                ? faultText(fault.what, trans)
                : strip && stateText(strip.state, trans)}
            </span>
          </p>
        )}
        <dl className="labdl-health-facts">
          {figures &&
            healthFacts(figures, trans).map(({ figure, term, text, hint }) => (
              <div key={figure} title={hint}>
                <dt>{term}</dt>
                <Sparkline
                  values={store.history(id, figure)}
                  isLogarithmic={LOGARITHMIC.includes(figure)}
                />
                <dd>{text}</dd>
              </div>
            ))}
        </dl>
        {measured && (
          <p className="labdl-quiet">{measuredText(measured, trans)}</p>
        )}
      </div>
    </CollapsibleSection>
  );
}
