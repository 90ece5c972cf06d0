// A few choices side by side, one of which is taken: radio buttons in a row.

import { useId } from 'react';

interface SegmentsProps<T extends string> {
  label: string;
  choices: readonly { id: T; label: string; title?: string }[];
  chosen: T;
  onChoose: (id: T) => void;
}

export function Segments<T extends string>(
  props: SegmentsProps<T>
): JSX.Element {
  const name = useId();
  return (
    <div
      className="labdl-data-segments"
      role="radiogroup"
      aria-label={props.label}
    >
      {props.choices.map(({ id, label, title }) => (
        <label key={id} title={title}>
          <input
            type="radio"
            name={name}
            value={id}
            checked={id === props.chosen}
            onChange={() => props.onChoose(id)}
          />
          <span>{label}</span>
        </label>
      ))}
    </div>
  );
}
