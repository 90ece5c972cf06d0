// Inline editable text: Enter or blur saves, Escape cancels.

import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { Translator } from './translator';

interface EditableTextProps {
  value: string;
  /** Accessible name of the field. */
  label: string;
  placeholder: string;
  children: ReactNode;
  /** Saves the text; returns null, or the current value if another user changed it since `before`. */
  onKeep: (value: string, before: string) => Promise<string | null>;
  /** Starts editing from outside; `onEnd` is called when it ends. */
  isEdited?: boolean;
  onEnd?: () => void;
  /** Whether a separate button starts editing; otherwise the text itself does. */
  hasOwnButton?: boolean;
  trans: Translator;
}

interface Edit {
  before: string;
  text: string;
}

export function EditableText(props: EditableTextProps): JSX.Element {
  const { value, label, placeholder, children, onKeep, onEnd, trans } = props;
  const [edit, setEdit] = useState<Edit | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const isKeeping = useRef(false);
  const input = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const isOpen = edit !== null;

  const begin = () => setEdit({ before: value, text: value });
  const end = () => {
    setEdit(null);
    setTrouble(null);
    onEnd?.();
  };
  const keep = async () => {
    if (!edit || isKeeping.current) {
      return;
    }
    if (edit.text === edit.before) {
      end();
      return;
    }
    isKeeping.current = true;
    try {
      const other = await onKeep(edit.text, edit.before);
      if (other === null) {
        end();
      } else {
        setEdit({ ...edit, before: other });
        setTrouble(
          other
            ? trans.__(
                'It was changed to “%1” in the meantime. Press Enter to overwrite it, Escape to keep it.',
                other
              )
            : trans.__(
                'It was cleared in the meantime. Press Enter to restore your text, Escape to keep it empty.'
              )
        );
      }
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : `${error}`);
    } finally {
      isKeeping.current = false;
    }
  };

  useEffect(() => {
    if (props.isEdited && !isOpen) {
      begin();
    }
  }, [props.isEdited]);
  useEffect(() => {
    if (isOpen) {
      input.current?.focus();
      input.current?.select();
    }
  }, [isOpen]);

  if (!edit) {
    return props.hasOwnButton ? (
      <>{children}</>
    ) : (
      <button
        type="button"
        ref={button}
        className="labdl-runs-editable"
        aria-label={trans.__('%1: %2', label, value || placeholder)}
        title={value || placeholder}
        onClick={begin}
      >
        {children}
      </button>
    );
  }
  return (
    <span className="labdl-runs-editing">
      <input
        ref={input}
        value={edit.text}
        placeholder={placeholder}
        aria-label={label}
        aria-invalid={trouble !== null}
        onChange={event => setEdit({ ...edit, text: event.target.value })}
        // a refused text stays until Enter or Escape
        onBlur={() => (trouble === null ? void keep() : undefined)}
        onKeyDown={event => {
          event.stopPropagation();
          if (event.key === 'Enter') {
            void keep();
          } else if (event.key === 'Escape') {
            end();
          }
        }}
      />
      {trouble && (
        <span className="labdl-runs-trouble" role="alert">
          {trouble}
        </span>
      )}
    </span>
  );
}
