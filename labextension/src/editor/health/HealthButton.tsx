// Toolbar button that shows or hides the health of layers; hidden before the first measurement.
import { useSyncExternalStore } from 'react';

import { useEditorContext } from '../context';
import { IconButton } from '../../ui/Icon';

export function HealthButton() {
  const { health, trans } = useEditorContext();
  const { store } = health;
  const { isAny, isShown } = useSyncExternalStore(store.subscribe, store.state);
  return isAny ? (
    <IconButton
      icon="pulse"
      className={isShown ? 'labdl-mod-on' : ''}
      label={
        isShown
          ? trans.__('Hide layer statistics')
          : trans.__('Show layer statistics')
      }
      onClick={() => store.show(!isShown)}
    />
  ) : null;
}
