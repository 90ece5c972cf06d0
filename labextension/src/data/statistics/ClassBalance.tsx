// Class balance: a bar for each class, which shows its samples on a click.

import { useState } from 'react';
import type { ClassCount } from '../../api/data';
import { formatCount, formatPercent } from '../../ui/number-format';
import type { Translator } from '../../ui/translator';
import { colorOf } from '../parts/label-colors';

/** Classes that are shown until more are asked for. */
const FIRST = 24;

interface ClassBalanceProps {
  classes: readonly ClassCount[];
  onClass: (name: string) => void;
  trans: Translator;
}

export function ClassBalance(props: ClassBalanceProps): JSX.Element {
  const { classes, onClass, trans } = props;
  const [isWhole, setWhole] = useState(false);
  const most = Math.max(1, ...classes.map(({ count }) => count));
  const all = classes.reduce((sum, { count }) => sum + count, 0);
  const names = classes.map(({ name }) => name);
  const shown = isWhole ? classes : classes.slice(0, FIRST);
  return (
    <section aria-label={trans.__('Class balance')}>
      <h3>{trans.__('Class balance')}</h3>
      <ul className="labdl-data-balance">
        {shown.map(({ name, count }) => (
          <li key={name}>
            <button
              type="button"
              title={trans.__('Show the samples of %1', name)}
              onClick={() => onClass(name)}
            >
              <span className="labdl-data-balance-name">{name}</span>
              <span className="labdl-data-balance-bar">
                {count > 0 && (
                  <span
                    data-hue={colorOf(name, names)}
                    style={{ width: `${(count / most) * 100}%` }}
                  />
                )}
              </span>
              <span className="labdl-data-balance-count">
                {formatCount(count)}
                <small>{formatPercent(all ? count / all : 0)}</small>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {classes.length > FIRST && (
        <button type="button" onClick={() => setWhole(!isWhole)}>
          {isWhole
            ? trans.__('Show fewer')
            : trans.__('Show all %1 classes', formatCount(classes.length))}
        </button>
      )}
    </section>
  );
}
