// Legend of the compared runs; the run under pointer or focus is highlighted in the charts.

import type { Translator } from '../../ui/translator';
import type { Look } from './line-styles';
import { Swatch } from './Swatch';

interface LegendProps {
  /** Text that applies to all lines. */
  note: string | null;
  looks: ReadonlyMap<string, Look>;
  names: ReadonlyMap<string, string>;
  hovered: string | null;
  onHover: (owner: string | null) => void;
  trans: Translator;
}

export function Legend(props: LegendProps): JSX.Element {
  const { looks, names, hovered, onHover, trans } = props;
  return (
    <ul className="labdl-overlay-legend" aria-label={trans.__('Legend')}>
      {[...names].map(([owner, name]) => (
        <li key={owner}>
          <button
            type="button"
            data-hovered={owner === hovered || undefined}
            title={name}
            onPointerEnter={() => onHover(owner)}
            onPointerLeave={() => onHover(null)}
            onFocus={() => onHover(owner)}
            onBlur={() => onHover(null)}
          >
            <Swatch look={looks.get(owner)} />
            <span>{name}</span>
          </button>
        </li>
      ))}
      {props.note && <li className="labdl-runs-quiet">{props.note}</li>}
    </ul>
  );
}
