// Health strip at the lower edge of a node: the gradient as a bar, and a text if there is a problem.
import { useState, useSyncExternalStore } from 'react';

import { stateText, stateLabel } from '../../runs/dashboard/health-text';
import { useEditorContext } from '../context';
import { Strip } from './health-figures';
import { faultText, healthLines } from './health-text';
import { Icon, IconName } from '../../ui/Icon';

const ICONS: Record<Strip['state'], IconName | null> = {
  fine: null,
  vanishing: 'down',
  exploding: 'up',
  dead: 'minus',
  broken: 'warning'
};

export function HealthStrip({ id }: { id: string }) {
  const { store } = useEditorContext().health;
  const strip = useSyncExternalStore(store.subscribe, () => store.strip(id));
  return <HealthOf ids={[id]} strip={strip} />;
}

/** Strip of a folded block: the layer inside with the most severe state. */
export function BlockHealthStrip({
  id,
  members
}: {
  id: string;
  members: string[];
}) {
  const { store } = useEditorContext().health;
  const strip = useSyncExternalStore(store.subscribe, () =>
    store.worst(id, members)
  );
  return <HealthOf ids={members} strip={strip} />;
}

function HealthOf({ ids, strip }: { ids: string[]; strip: Strip | undefined }) {
  const { health, trans } = useEditorContext();
  const { store } = health;
  const fault = useSyncExternalStore(store.subscribe, () => {
    const found = store.fault();
    return found && ids.includes(found.id) ? found.what : null;
  });
  const { isStale } = useSyncExternalStore(store.subscribe, store.state);
  // The full list of figures is formatted only on hover.
  const [isRead, read] = useState(0);
  if (!strip && fault === null) {
    return null;
  }
  const about = strip?.id ?? ids[0];
  const short = [
    ...(isStale ? [trans.__('The model has changed since then.')] : []),
    ...(fault ? [faultText(fault, trans)] : []),
    ...(strip?.id ? [store.nameOf(strip.id)] : []),
    ...(strip ? [stateText(strip.state, trans)] : [])
  ];
  const figures =
    strip && isRead
      ? healthLines(store.figures(about), store.measured(), trans)
      : [];
  return (
    <div
      className={`labdl-health ${isStale ? 'labdl-mod-stale' : ''}`}
      data-state={strip?.state}
      role="img"
      aria-label={short.join(' ')}
      title={isRead ? [...short, ...figures].join('\n') : undefined}
      onPointerEnter={() => read(isRead + 1)}
      onPointerLeave={() => read(0)}
    >
      {strip && strip.level !== null && (
        <span className="labdl-health-bar">
          <span style={{ transform: `scaleX(${strip.level / 100})` }} />
        </span>
      )}
      {fault && <span className="labdl-health-ring" />}
      <Words strip={strip} fault={fault} />
    </div>
  );
}

interface WordsProps {
  strip: Strip | undefined;
  fault: string | null;
}

function Words({ strip, fault }: WordsProps) {
  const { trans } = useEditorContext();
  const icon: IconName | null = fault
    ? 'warning'
    : strip
      ? ICONS[strip.state]
      : null;
  const word = fault
    ? trans.__('first NaN')
    : strip && strip.state !== 'fine'
      ? stateLabel(strip.state, trans)
      : strip && strip.zeros !== null
        ? trans.__('%1 % zeros', strip.zeros)
        : null;
  return word === null ? null : (
    <span className="labdl-health-word">
      {icon && <Icon name={icon} />}
      {word}
    </span>
  );
}
