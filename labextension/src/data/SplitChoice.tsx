// The parts of a data set that is divided already, with their numbers of samples; one of them is in view.

import type { SplitCount } from '../api/data';
import { formatCount } from '../ui/number-format';
import type { Translator } from '../ui/translator';
import { Segments } from './Segments';

/** Parts, and letters of their names, that have room side by side. */
const MOST = 4;
const MOST_LETTERS = 60;

interface SplitChoiceProps {
  splits: readonly SplitCount[];
  chosen: string;
  onChoose: (split: string) => void;
  trans: Translator;
}

export function SplitChoice(props: SplitChoiceProps): JSX.Element {
  const { splits, chosen, onChoose, trans } = props;
  const label = trans.__('Part of the data set');
  const choices = splits.map(split => ({
    id: split.name,
    label: splitText(split, trans)
  }));
  const length = choices.reduce((sum, choice) => sum + choice.label.length, 0);
  return choices.length > MOST || length > MOST_LETTERS ? (
    <select
      aria-label={label}
      value={chosen}
      onChange={({ target }) => onChoose(target.value)}
    >
      {choices.map(choice => (
        <option key={choice.id} value={choice.id}>
          {choice.label}
        </option>
      ))}
    </select>
  ) : (
    <Segments
      label={label}
      choices={choices}
      chosen={chosen}
      onChoose={onChoose}
    />
  );
}

/** As in "Validation 2,000". */
export function splitText(
  { name, samples }: SplitCount,
  trans: Translator
): string {
  const names = new Map([
    ['training', trans.__('Training')],
    ['validation', trans.__('Validation')],
    ['test', trans.__('Test')]
  ]);
  return `${names.get(name) ?? name} ${formatCount(samples)}`;
}
