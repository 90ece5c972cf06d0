// Button and form that start another run from the state of this one.

import { useEffect, useId, useRef, useState } from 'react';
import { CommandButton } from './CommandButton';
import type { CommandsProps } from './Commands';
import { Form } from '../../ui/Form';
import { formatCount, formatSetting } from '../../ui/number-format';
import { readEpochs, readRate } from './parse-input';
import type { BranchValue } from '../store/source';

export function Branch({ view, send, trans }: CommandsProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [rate, setRate] = useState('');
  const [epochs, setEpochs] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const root = useRef<HTMLSpanElement>(null);
  const id = useId();
  const isPending = view.pending.includes('branch');
  const isEnabled = view.status === 'running' || view.status === 'paused';
  const isShown = isOpen && isEnabled;

  useEffect(() => {
    if (!isShown) {
      return;
    }
    root.current?.querySelector('input')?.focus();
    const away = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) {
        setOpen(false);
      }
    };
    document.addEventListener('pointerdown', away, true);
    return () => document.removeEventListener('pointerdown', away, true);
  }, [isShown]);

  const close = () => {
    setOpen(false);
    root.current?.querySelector('button')?.focus();
  };
  const begin = () => {
    const value: BranchValue = {};
    const fields = [
      ['learning_rate', rate, readRate] as const,
      ['epochs', epochs, readEpochs] as const
    ];
    for (const [name, text, read] of fields) {
      const found = text.trim() === '' ? undefined : read(text, trans);
      if (typeof found === 'string') {
        setWrong(found);
        return;
      }
      if (found !== undefined) {
        value[name] = found;
      }
    }
    send('branch', value);
    setRate('');
    setEpochs('');
    close();
  };
  const field = (
    name: keyof BranchValue,
    label: string,
    now: string,
    text: string,
    set: (text: string) => void
  ) => (
    <label>
      <span>{label}</span>
      <input
        type="text"
        inputMode="decimal"
        autoComplete="off"
        name={name}
        value={text}
        placeholder={now}
        aria-invalid={wrong !== null}
        aria-describedby={wrong ? `${id}-wrong` : undefined}
        onChange={event => {
          set(event.target.value);
          setWrong(null);
        }}
      />
    </label>
  );
  return (
    <span className="labdl-branch" ref={root}>
      <CommandButton
        name="branch"
        label={trans.__('Branch')}
        title={trans.__('Branch: start another run from here')}
        isPending={isPending}
        isEnabled={isEnabled}
        isOpen={isShown}
        onClick={() => setOpen(!isShown)}
      />
      {isShown && (
        <div
          className="labdl-branch-form"
          role="dialog"
          aria-label={trans.__('Start a new run from the current state')}
          onKeyDown={event => {
            if (event.key === 'Escape') {
              event.stopPropagation();
              close();
            }
          }}
        >
          <Form onSubmit={begin}>
            <p>
              {trans.__(
                'Starts another run with the current state, alongside this one. Empty fields keep their values.'
              )}
            </p>
            {field(
              'learning_rate',
              trans.__('Learning rate'),
              view.rate.now === null ? '' : formatSetting(view.rate.now),
              rate,
              setRate
            )}
            {field(
              'epochs',
              trans.__('Total epochs'),
              view.epochs === null ? '' : formatCount(view.epochs),
              epochs,
              setEpochs
            )}
            {wrong && (
              <p
                id={`${id}-wrong`}
                className="labdl-dashboard-wrong"
                role="alert"
              >
                {wrong}
              </p>
            )}
            <div className="labdl-branch-buttons">
              <button type="button" onClick={close}>
                {trans.__('Cancel')}
              </button>
              <button type="submit" className="labdl-branch-begin">
                {trans.__('Start')}
              </button>
            </div>
          </Form>
        </div>
      )}
    </span>
  );
}
