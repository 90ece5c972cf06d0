// Choice of the result that colors lines and dots, and its color scale.

import type { Translator } from '../../ui/translator';
import type { Axis, AxisChoice } from './axes';

interface ColorScaleProps {
  choices: readonly AxisChoice[];
  result: Axis | null;
  id: string;
  onChange: (id: string) => void;
  trans: Translator;
}

export function ColorScale(props: ColorScaleProps): JSX.Element {
  const { choices, result, id, onChange, trans } = props;
  const ends = result?.ticks ?? [];
  return (
    <span className="labdl-result-key">
      <label>
        {trans.__('Color by')}{' '}
        <select value={id} onChange={event => onChange(event.target.value)}>
          {choices.map(choice => (
            <option key={choice.id} value={choice.id}>
              {choice.label}
            </option>
          ))}
        </select>
      </label>
      {ends.length > 1 && (
        <>
          <span>{ends[0].label}</span>
          <span className="labdl-result-scale" aria-hidden="true" />
          <span>{ends[ends.length - 1].label}</span>
        </>
      )}
    </span>
  );
}
