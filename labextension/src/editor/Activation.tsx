// What a layer made of one sample, in a strip on its node: a picture or a histogram, and mean ± deviation.
import { useSyncExternalStore } from 'react';

import { numberText } from '../dashboard/format';
import { Histogram } from '../dashboard/Histogram';
import { Pixels } from '../dashboard/Pixels';
import { useEditorContext } from './context';
import { shapeText } from './format';
import { Activation as Values } from './looking';
import { Translator } from './translator';

/** Tiles that can be told apart on a node: two rows. */
const MOST = 12;

export function Activation({ id }: { id: string }) {
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
      title={isStale ? trans.__('The model has changed since.') : undefined}
    >
      {values.picture ? (
        <Pixels
          picture={values.picture}
          columns={6}
          most={MOST}
          label={pictureText(values.picture, trans, MOST)}
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
  const mean = numberText(values.mean);
  const std = numberText(values.std);
  return (
    <span
      className="labdl-activation-text"
      title={trans.__('Mean %1, standard deviation %2', mean, std)}
    >
      {numberText(values.mean, 2)} <span>± {numberText(values.std, 2)}</span>
    </span>
  );
}

export function pictureText(
  picture: NonNullable<Values['picture']>,
  trans: Translator,
  most = Infinity
): string {
  const { tiles, channels, colours, low, high } = picture;
  const range =
    colours === 3
      ? trans.__('from %1 to %2', numberText(low), numberText(high))
      : trans.__('black is %1, white is %2', numberText(low), numberText(high));
  return colours === 1 && channels > 1
    ? trans.__('%1 of %2 channels; %3', Math.min(tiles, most), channels, range)
    : trans.__('The values as an image; %1', range);
}
