// Toolbar buttons that run one sample through the model and clear its activations.
import { useSyncExternalStore } from 'react';

import { useEditorContext } from '../context';
import { IconButton } from '../../ui/Icon';

export function ActivationButtons() {
  const { sample, trans } = useEditorContext();
  const { store } = sample;
  const { isRunning, origin } = useSyncExternalStore(
    store.subscribe,
    store.state
  );
  if (!sample.isPossible) {
    return null;
  }
  return (
    <>
      <span className="labdl-toolbar-gap" />
      <IconButton
        icon="sample"
        className={isRunning ? 'labdl-mod-running' : ''}
        label={
          isRunning
            ? trans.__('Running one sample…')
            : trans.__('Run one sample')
        }
        disabled={isRunning}
        onClick={() => void sample.run()}
      />
      <IconButton
        icon="close"
        label={trans.__('Clear the sample')}
        disabled={origin === null}
        onClick={() => sample.clear()}
      />
    </>
  );
}
