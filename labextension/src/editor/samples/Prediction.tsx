// Prediction for the sample that ran through the model, in the status bar, where it covers nothing.
import { useSyncExternalStore } from 'react';

import { useEditorContext } from '../context';

export function Prediction() {
  const { sample, trans } = useEditorContext();
  const { store } = sample;
  const { prediction, isStale } = useSyncExternalStore(
    store.subscribe,
    store.state
  );
  const [best] = prediction?.classes ?? [];
  if (!prediction || !best) {
    return null;
  }
  const { classes, target } = prediction;
  const percent = (probability: number) =>
    `${(100 * probability).toFixed(1)} %`;
  const words =
    target === null
      ? trans.__('Predicted %1 (%2)', best.name, percent(best.probability))
      : trans.__(
          'Predicted %1 (%2), true %3',
          best.name,
          percent(best.probability),
          target
        );
  const isWrong = target !== null && target !== best.name;
  return (
    <span
      className={[
        'labdl-status-prediction',
        isWrong ? 'labdl-mod-problem' : '',
        isStale ? 'labdl-mod-stale' : ''
      ].join(' ')}
      title={classes
        .map(({ name, probability }) => `${name}: ${percent(probability)}`)
        .join('\n')}
    >
      {words}
    </span>
  );
}
