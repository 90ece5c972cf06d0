// Axes that are shown: by default the varied settings and the main result, else those that the person chose.

import { useMemo, useState } from 'react';
import type { Translator } from '../../ui/translator';
import type { AxisChoice } from './axes';
import { Menu, MenuChoice } from '../../ui/Menu';

/** Maximum number of default axes, since more would be too close to each other. */
const FIRST = 10;

export interface Axes {
  shown: readonly AxisChoice[];
  toggle: (id: string) => void;
}

export function useAxes(choices: readonly AxisChoice[], main: string): Axes {
  const [chosen, setChosen] = useState<Readonly<Record<string, boolean>>>({});
  const shown = useMemo(() => {
    const inputs = choices.filter(choice => choice.isTelling).slice(0, FIRST);
    const usual = new Set([...inputs.map(({ id }) => id), main]);
    return choices.filter(({ id }) => chosen[id] ?? usual.has(id));
  }, [choices, chosen, main]);
  const toggle = (id: string) =>
    setChosen({ ...chosen, [id]: !shown.some(axis => axis.id === id) });
  return { shown, toggle };
}

interface AxisMenuProps extends Axes {
  choices: readonly AxisChoice[];
  trans: Translator;
}

export function AxisMenu(props: AxisMenuProps): JSX.Element {
  const { choices, shown, toggle, trans } = props;
  return (
    <Menu label={trans.__('Axes')} count={shown.length}>
      {choices.map(({ id, label }) => (
        <MenuChoice
          key={id}
          label={label}
          isChosen={shown.some(axis => axis.id === id)}
          onToggle={() => toggle(id)}
        />
      ))}
    </Menu>
  );
}
