// Texts that a training has logged: a name, and the text at a step.

import { useState } from 'react';
import { formatTime } from '../../ui/number-format';
import { CopyButton } from '../../ui/CopyButton';
import { EmptyState } from '../../ui/EmptyState';
import type { TabProps } from '.';
import { MomentSlider, useMoment } from './MomentSlider';

export function TextTab({ view, trans, onStep }: TabProps): JSX.Element {
  const { texts: named } = view;
  const [selected, select] = useState<string | null>(null);
  const shown = named.find(({ name }) => name === selected) ?? named[0];
  const { moment, at, choose } = useMoment(shown?.texts ?? []);
  if (!shown || !moment) {
    return (
      <EmptyState>
        {trans.__(
          'No texts. Texts that the training logs with trainer.log_text(name, text) appear here, for example samples that the model generates.'
        )}
      </EmptyState>
    );
  }
  return (
    <div className="labdl-texts">
      <div className="labdl-tab-tools">
        <label>
          {trans.__('Name')}{' '}
          <select
            value={shown.name}
            onChange={event => select(event.target.value)}
          >
            {named.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <MomentSlider
          moments={shown.texts}
          at={at}
          choose={choose}
          trans={trans}
        />
        <CopyButton
          label={trans.__('Copy the text')}
          text={() => moment.text}
          trans={trans}
        />
        {onStep && (
          <button
            type="button"
            className="labdl-dashboard-small"
            onClick={() => onStep(moment.step)}
          >
            {trans.__('Show on the curves')}
          </button>
        )}
        <time className="labdl-tab-note">{formatTime(moment.time)}</time>
      </div>
      <pre
        className="labdl-text"
        dir="auto"
        tabIndex={0}
        aria-label={trans.__('Text %1', shown.name)}
      >
        {moment.text}
      </pre>
    </div>
  );
}
