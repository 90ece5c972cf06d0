// Activations of a layer in a strip on its node: a picture or a histogram, and mean ± deviation.
import { useSyncExternalStore } from 'react';

import { formatSignificant } from '../../ui/number-format';
import { Histogram } from '../../runs/charts/Histogram';
import { Pixels } from '../../runs/charts/Pixels';
import { useEditorContext } from '../context';
import { shapeText } from '../model/shape-format';
import { Activation as Values } from './inspection-data';
import { Translator } from '../../ui/translator';

/** Number of tiles in a row that are distinguishable on a node. */
const COLUMNS = 6;

/** With `isLow` in one row: below the node there is room for a shape, and for no more. */
export function Activation(props: { id: string; isLow?: boolean }) {
  const { id, isLow = false } = props;
  const most = isLow ? COLUMNS : 2 * COLUMNS;
  const { sample, trans } = useEditorContext();
  const { store } = sample;
  const outputs = useSyncExternalStore(store.subscribe, () => store.node(id));
  const isStale = useSyncExternalStore(store.subscribe, store.isStale);
  const [first] = Object.entries(outputs ?? {});
  if (!first) {
    return null;
  }
  const [port, values] = first;
  return (
    <div
      className={`labdl-activation ${isStale ? 'labdl-mod-stale' : ''}`}
      title={
        isStale ? trans.__('The model has changed since then.') : undefined
      }
    >
      {values.picture ? (
        <Pixels
          picture={values.picture}
          columns={COLUMNS}
          most={most}
          label={pictureText(values.picture, trans, most)}
        />
      ) : values.histogram && values.size > 1 ? (
        <Histogram bare data={values.histogram} name={port} trans={trans} />
      ) : (
        <span>{shapeText(values.shape, trans.__('one number'))}</span>
      )}
      <Summary values={values} />
    </div>
  );
}

function Summary({ values }: { values: Values }) {
  const { trans } = useEditorContext();
  if (values.not_finite) {
    return (
      <span className="labdl-activation-text labdl-mod-problem">
        {trans._n('%1 not finite', '%1 not finite', values.not_finite)}
      </span>
    );
  }
  if (values.mean === null) {
    return null;
  }
  const mean = formatSignificant(values.mean);
  const std = formatSignificant(values.std);
  return (
    <span
      className="labdl-activation-text"
      title={trans.__('Mean %1, standard deviation %2', mean, std)}
    >
      {formatSignificant(values.mean, 2)}{' '}
      <span>± {formatSignificant(values.std, 2)}</span>
    </span>
  );
}

export function pictureText(
  picture: NonNullable<Values['picture']>,
  trans: Translator,
  most = Infinity
): string {
  const { tiles, channels, colors, low, high } = picture;
  const range =
    colors === 3
      ? trans.__(
          'from %1 to %2',
          formatSignificant(low),
          formatSignificant(high)
        )
      : trans.__(
          'black is %1, white is %2',
          formatSignificant(low),
          formatSignificant(high)
        );
  return colors === 1 && channels > 1
    ? trans.__('%1 of %2 channels; %3', Math.min(tiles, most), channels, range)
    : trans.__('The values as an image; %1', range);
}
