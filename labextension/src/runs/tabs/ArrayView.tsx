// Display of one array: image, text, curve, or values.

import { formatNumber, formatSignificant } from '../../ui/number-format';
import { Pixels } from '../charts/Pixels';
import type { Picture, ShownArray } from '../store/source';
import type { Translator } from '../../ui/translator';

/** Maximum number of displayed values; the others are counted. */
const READ = 12;
const WIDTH = 120;
const HEIGHT = 60;

export interface ArrayViewProps {
  value: ShownArray;
  /** Name of the values, for screen readers. */
  name: string;
  trans: Translator;
}

export function ArrayView(props: ArrayViewProps): JSX.Element {
  const { value, name, trans } = props;
  const { picture, curve, values } = value;
  if (picture) {
    return (
      <Pixels
        picture={picture}
        columns={Math.ceil(Math.sqrt(Math.max(1, picture.tiles)))}
        label={trans.__('%1: %2', name, pictureWords(picture, value, trans))}
      />
    );
  }
  if (value.text !== undefined) {
    return (
      <blockquote className="labdl-shown-text" dir="auto" tabIndex={0}>
        {value.text || trans.__('(empty text)')}
      </blockquote>
    );
  }
  if (curve) {
    return <Curve channels={curve} name={name} trans={trans} />;
  }
  if (values) {
    const rest = values.length - READ;
    return (
      <span className="labdl-shown-values">
        {values.slice(0, READ).map(formatNumber).join('  ')}
        {rest > 0 && ` ${trans._n('and %1 more', 'and %1 more', rest)}`}
      </span>
    );
  }
  return <>–</>;
}

function pictureWords(
  { width, height, low, high }: Picture,
  { shape }: ShownArray,
  trans: Translator
): string {
  const size = (shape ?? [height, width]).join(' × ');
  return trans.__(
    'image of %1, from %2 to %3',
    size,
    formatSignificant(low),
    formatSignificant(high)
  );
}

function Curve({
  channels,
  name,
  trans
}: {
  channels: readonly (readonly (number | null)[])[];
  name: string;
  trans: Translator;
}): JSX.Element {
  const all = channels.flat().filter(value => value !== null);
  const low = all.reduce((a, b) => Math.min(a, b), Infinity);
  const high = all.reduce((a, b) => Math.max(a, b), -Infinity);
  const words = all.length
    ? trans.__(
        '%1: curve from %2 to %3',
        name,
        formatSignificant(low),
        formatSignificant(high)
      )
    : trans.__('%1: no finite values', name);
  return (
    <svg
      className="labdl-shown-curve"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={words}
    >
      <title>{words}</title>
      {channels.map((channel, index) => (
        <path key={index} data-channel={index} d={path(channel, low, high)} />
      ))}
    </svg>
  );
}

/** SVG path of a curve; values that are not finite leave a gap. */
function path(
  values: readonly (number | null)[],
  low: number,
  high: number
): string {
  const across = WIDTH / Math.max(1, values.length - 1);
  let isOpen = false;
  let line = '';
  values.forEach((value, index) => {
    if (value === null) {
      isOpen = false;
      return;
    }
    const part = high > low ? (value - low) / (high - low) : 0.5;
    const y = HEIGHT - 2 - part * (HEIGHT - 4);
    line += `${isOpen ? 'L' : 'M'}${(index * across).toFixed(1)} ${y.toFixed(1)}`;
    isOpen = true;
  });
  return line;
}
