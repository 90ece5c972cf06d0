// Text field of a parameter: numbers, lists, words.
import { KeyboardEvent, useEffect, useRef, useState } from 'react';

import type { Json } from '../api/graph';
import type { FieldProps } from './field-props';
import { formatValue, parseText } from './field-text';
import { sameJson } from './same-json';
import { acceptsOf } from './param-schema';

export function TextParam(props: FieldProps) {
  const { id, param, value, trans, nothing } = props;
  const isNeeded = param.default === undefined && value === undefined;

  const write = (value: Json | undefined) =>
    value === null && nothing !== undefined
      ? ''
      : formatValue(value, props.name);
  const words = acceptsOf(param).values.filter(
    (word): word is string => typeof word === 'string'
  );

  const [text, setText] = useState(write(value));
  const [error, setError] = useState<string | null>(null);
  /** The value that the text represents. */
  const meant = useRef(value);
  useEffect(() => {
    if (!sameJson(meant.current, value)) {
      meant.current = value;
      setText(write(value));
      setError(null);
    }
  }, [value]);

  const change = (next: string) => {
    setText(next);
    const parsed = parseText(next, param, trans);
    if ('error' in parsed) {
      setError(parsed.error);
      return;
    }
    setError(null);
    meant.current = parsed.value ?? param.default;
    if (parsed.value === null) {
      meant.current = null;
    }
    props.onChange(meant.current);
  };
  const leave = () => {
    if (error === null) {
      setText(write(meant.current));
    }
  };
  const keyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      setText(write(meant.current));
      setError(null);
    } else if (event.key === 'Enter') {
      event.stopPropagation();
      leave();
    }
  };

  return (
    <>
      <input
        id={id}
        className="labdl-input"
        type="text"
        spellCheck={false}
        autoComplete="off"
        value={text}
        list={words.length > 0 ? `${id}-words` : undefined}
        placeholder={isNeeded ? trans.__('required') : (nothing ?? '')}
        aria-invalid={error !== null}
        aria-describedby={error === null ? undefined : `${id}-error`}
        onChange={event => change(event.target.value)}
        onBlur={leave}
        onKeyDown={keyDown}
      />
      {words.length > 0 && (
        <datalist id={`${id}-words`}>
          {words.map(word => (
            <option key={word} value={word} />
          ))}
        </datalist>
      )}
      {error !== null && (
        <p id={`${id}-error`} className="labdl-field-error" role="alert">
          {error}
        </p>
      )}
    </>
  );
}
