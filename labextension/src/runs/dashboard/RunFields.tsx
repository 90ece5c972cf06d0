// Fields that change a running training: learning rate and number of additional epochs.

import { useEffect, useId, useRef, useState } from 'react';
import type { Send } from '../store/send-command';
import { Form } from '../../ui/Form';
import { formatSetting } from '../../ui/number-format';
import { readMore, readRate } from './parse-input';
import type { ValuedCommand } from '../store/source';
import type { RunView } from '../store/store';
import type { Translator } from '../../ui/translator';

export interface RunFieldsProps {
  view: RunView;
  send: Send;
  trans: Translator;
}

export function RunFields({ view, send, trans }: RunFieldsProps): JSX.Element {
  return (
    <div
      className="labdl-dashboard-fields"
      role="group"
      aria-label={trans.__('Training settings')}
    >
      <Field
        name="learning_rate"
        label={trans.__('Learning rate')}
        hint={trans.__(
          'Learning rate from the next step on. Press Enter to apply'
        )}
        now={view.rate.now === null ? '' : formatSetting(view.rate.now)}
        read={text => readRate(text, trans)}
        view={view}
        send={send}
      />
      <Field
        name="add_epochs"
        label={trans.__('Add epochs')}
        hint={trans.__('Number of epochs to add. Press Enter to apply')}
        now=""
        read={text => readMore(text, trans)}
        view={view}
        send={send}
      />
    </div>
  );
}

interface FieldProps {
  name: ValuedCommand;
  label: string;
  hint: string;
  /** Current value, from the events of the run. */
  now: string;
  /** Parses the text: a number, or an error message. */
  read: (text: string) => number | string;
  view: RunView;
  send: Send;
}

/** Input field of a command. The typed text stays until the run has acknowledged it. */
function Field(props: FieldProps): JSX.Element {
  const { name, view, read, send } = props;
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const id = useId();
  const busy = view.pending.includes(name);
  const sent = useRef(false);
  useEffect(() => {
    // views contain a command from its sending until its answer, so its absence means an answer
    if (sent.current && !busy) {
      sent.current = false;
      if (view.trouble === null) {
        setText('');
      }
    }
  }, [view, busy]);

  const change = (given: string) => {
    setText(given);
    setWrong(null);
  };
  const apply = () => {
    const value = text.trim() === '' ? null : read(text);
    if (typeof value === 'string') {
      setWrong(value);
    } else if (value !== null && !busy) {
      sent.current = true;
      send(name, value);
    }
  };
  return (
    <Form className="labdl-dashboard-field" onSubmit={apply}>
      <label htmlFor={id}>{props.label}</label>
      <input
        id={id}
        type="text"
        inputMode="decimal"
        enterKeyHint="done"
        autoComplete="off"
        data-command={name}
        value={text}
        placeholder={props.now}
        title={props.hint}
        readOnly={busy}
        disabled={view.status !== 'running' && view.status !== 'paused'}
        aria-busy={busy}
        aria-invalid={wrong !== null}
        aria-describedby={`${id}-hint`}
        onChange={event => change(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Escape' && !busy) {
            change('');
          }
        }}
      />
      <span
        id={`${id}-hint`}
        className={wrong ? 'labdl-dashboard-wrong' : 'labdl-dashboard-hint'}
        role={wrong ? 'alert' : undefined}
      >
        {wrong ?? props.hint}
      </span>
    </Form>
  );
}
