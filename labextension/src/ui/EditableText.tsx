// Words about a run that are edited where they stand: Enter or leaving keeps them, Escape does not.

import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { Translator } from './translator';

interface EditableTextProps {
  value: string;
  /** What is edited, for those who hear it. */
  label: string;
  placeholder: string;
  children: ReactNode;
  /** Null where it was kept, what another has written since `before` where it was not. */
  onKeep: (value: string, before: string) => Promise<string | null>;
  /** Editing was asked for elsewhere; it is told when it has ended. */
  isEdited?: boolean;
  onEnd?: () => void;
  /** Without it the words themselves are the button that begins. */
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
        // what was refused waits for a decision, leaving is none
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
