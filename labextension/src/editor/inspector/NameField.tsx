// Text field that applies valid input immediately; invalid input stays with its reason and a valid name.
import { KeyboardEvent, useEffect, useRef, useState } from 'react';

import { Button } from '../../ui/Button';
import { useEditorContext } from '../context';
import { NameRefusal } from './name-refusal';

export interface NameFieldProps {
  id: string;
  label: string;
  value: string;
  placeholder?: string;
  /** Applies the text on blur instead of on every change. */
  commitOnLeave?: boolean;
  /** Why a text is invalid; null if it is valid. */
  refuse: (text: string) => NameRefusal | null;
  /** The form in which a text is applied. */
  normalize?: (text: string) => string;
  onChange: (text: string) => void;
  /** Called when the field loses the focus. */
  onDone: () => void;
}

export function NameField(props: NameFieldProps) {
  const { id, value } = props;
  const { trans } = useEditorContext();
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

  const refusal = text === value ? null : props.refuse(text);

  const change = (next: string) => {
    setText(next);
    if (!props.commitOnLeave) {
      take(next);
    }
  };
  const take = (typed: string) => {
    const next = props.normalize?.(typed) ?? typed;
    if (next !== written.current && props.refuse(next) === null) {
      written.current = next;
      props.onChange(next);
    }
  };
  const leave = () => {
    if (props.commitOnLeave && !isGivenUp.current) {
      take(text);
    }
    if (isGivenUp.current || props.refuse(text) === null) {
      setText(written.current);
    }
    isGivenUp.current = false;
    props.onDone();
  };
  const acceptOffer = (valid: string) => {
    take(valid);
    setText(written.current);
    props.onDone();
  };
  const keyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter' || event.key === 'Escape') {
      event.stopPropagation();
      if (event.key === 'Enter' && refusal) {
        return;
      }
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
        aria-invalid={refusal !== null}
        aria-describedby={refusal === null ? undefined : `${id}-error`}
        onChange={event => change(event.target.value)}
        onBlur={leave}
        onKeyDown={keyDown}
      />
      {refusal !== null && (
        <p id={`${id}-error`} className="labdl-field-error" role="alert">
          {refusal.reason}
        </p>
      )}
      {refusal?.valid && (
        <Button
          className="labdl-button labdl-name-offer"
          onClick={() => acceptOffer(refusal.valid ?? '')}
        >
          {trans.__('Use “%1”', refusal.valid)}
        </Button>
      )}
    </div>
  );
}
