// Text field that applies valid input immediately and shows why input is invalid.
import { KeyboardEvent, useEffect, useRef, useState } from 'react';

export interface NameFieldProps {
  id: string;
  label: string;
  value: string;
  placeholder?: string;
  /** Applies the text on blur instead of on every change. */
  commitOnLeave?: boolean;
  /** Error message for a text; null if it is valid. */
  refuse: (text: string) => string | null;
  onChange: (text: string) => void;
  /** Called when the field loses the focus. */
  onDone: () => void;
}

export function NameField(props: NameFieldProps) {
  const { id, value } = props;
  const [text, setText] = useState(value);
  const written = useRef(value);
  const isGivenUp = useRef(false);
  useEffect(() => {
    // The name was changed elsewhere: by undo or by another user.
    if (value !== written.current) {
      written.current = value;
      setText(value);
    }
  }, [value]);

  const error = text === value ? null : props.refuse(text);

  const change = (next: string) => {
    setText(next);
    if (!props.commitOnLeave) {
      take(next);
    }
  };
  const take = (next: string) => {
    if (next !== written.current && props.refuse(next) === null) {
      written.current = next;
      props.onChange(next);
    }
  };
  const leave = () => {
    if (props.commitOnLeave && !isGivenUp.current) {
      take(text);
    }
    isGivenUp.current = false;
    setText(written.current);
    props.onDone();
  };
  const keyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter' || event.key === 'Escape') {
      event.stopPropagation();
      isGivenUp.current = event.key === 'Escape';
      event.currentTarget.blur();
    }
  };

  return (
    <div className="labdl-field">
      <label htmlFor={id}>{props.label}</label>
      <input
        id={id}
        className="labdl-input"
        type="text"
        spellCheck={false}
        autoComplete="off"
        value={text}
        placeholder={props.placeholder}
        aria-invalid={error !== null}
        aria-describedby={error === null ? undefined : `${id}-error`}
        onChange={event => change(event.target.value)}
        onBlur={leave}
        onKeyDown={keyDown}
      />
      {error !== null && (
        <p id={`${id}-error`} className="labdl-field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
