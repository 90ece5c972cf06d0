// The form in which a person says how a model is to be trained.

import * as React from 'react';

import type { Translator } from '../editor';
import type { TrainingChoices, TrainingSettings } from './api';

export interface TrainFormProps {
  choices: TrainingChoices;
  settings: TrainingSettings | null;
  busy: boolean;
  /** What the button says. */
  action: string;
  trans: Translator;
  /** Stands at the end of the line under the fields. */
  children?: React.ReactNode;
  onTrain: (settings: TrainingSettings) => void;
}

/** Numbers as typed: half a number is not yet a setting. */
interface Draft {
  backend: string;
  dataset: string;
  optimizer: string;
  learning_rate: string;
  epochs: string;
  batch_size: string;
}

function draftOf(
  choices: TrainingChoices,
  settings: TrainingSettings | null
): Draft {
  const first: TrainingSettings = {
    backend: choices.backends.find(backend => !backend.problem)?.name ?? '',
    dataset: choices.datasets[0]?.name ?? '',
    optimizer: choices.optimizers[0] ?? '',
    learning_rate: 0.001,
    epochs: 10,
    batch_size: 32,
    ...choices.defaults,
    ...settings
  };
  return {
    ...first,
    learning_rate: `${first.learning_rate}`,
    epochs: `${first.epochs}`,
    batch_size: `${first.batch_size}`
  };
}

/** The settings that a draft says, or the sentence that says what is wrong with it. */
function read(draft: Draft, trans: Translator): TrainingSettings | string {
  const rate = Number(draft.learning_rate);
  const epochs = Number(draft.epochs);
  const batch = Number(draft.batch_size);
  if (!(rate > 0 && Number.isFinite(rate))) {
    return trans.__(
      'The learning rate must be a number above 0, for example 0.001; it is "%1".',
      draft.learning_rate
    );
  }
  if (!(Number.isInteger(epochs) && epochs > 0)) {
    return trans.__(
      'Epochs must be a whole number above 0; it is "%1".',
      draft.epochs
    );
  }
  if (!(Number.isInteger(batch) && batch > 0)) {
    return trans.__(
      'The batch size must be a whole number above 0; it is "%1".',
      draft.batch_size
    );
  }
  return { ...draft, learning_rate: rate, epochs, batch_size: batch };
}

export function TrainForm(props: TrainFormProps): React.JSX.Element {
  const { choices, trans } = props;
  const [draft, setDraft] = React.useState(() =>
    draftOf(choices, props.settings)
  );
  const set =
    (name: keyof Draft) =>
    (event: React.ChangeEvent<HTMLInputElement | HTMLSelectElement>) =>
      setDraft({ ...draft, [name]: event.target.value });
  const settings = read(draft, trans);
  const wrong = typeof settings === 'string' ? settings : null;
  const backend = choices.backends.find(
    backend => backend.name === draft.backend
  );
  const dataset = choices.datasets.find(
    dataset => dataset.name === draft.dataset
  );
  const unusable = choices.backends.filter(backend => backend.problem);
  return (
    <form
      className="labdl-TrainForm"
      onSubmit={event => {
        event.preventDefault();
        if (typeof settings !== 'string') {
          props.onTrain(settings);
        }
      }}
    >
      <Choice
        label={trans.__('Backend')}
        value={draft.backend}
        onChange={set('backend')}
        title={`${draft.backend} ${backend?.version ?? ''}`}
      >
        {choices.backends.map(backend => (
          <option
            key={backend.name}
            value={backend.name}
            disabled={backend.problem !== null}
          >
            {backend.problem
              ? `${backend.name}: ${backend.problem}`
              : backend.name}
          </option>
        ))}
      </Choice>
      <Choice
        label={trans.__('Data set')}
        value={draft.dataset}
        onChange={set('dataset')}
        title={dataset?.summary}
      >
        {choices.datasets.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </Choice>
      <Choice
        label={trans.__('Optimiser')}
        value={draft.optimizer}
        onChange={set('optimizer')}
      >
        {choices.optimizers.map(name => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </Choice>
      <Entry
        label={trans.__('Learning rate')}
        value={draft.learning_rate}
        onChange={set('learning_rate')}
      />
      <Entry
        label={trans.__('Epochs')}
        value={draft.epochs}
        onChange={set('epochs')}
      />
      <Entry
        label={trans.__('Batch size')}
        value={draft.batch_size}
        onChange={set('batch_size')}
      />
      <button
        type="submit"
        className="jp-mod-styled jp-mod-accept labdl-TrainForm-train"
        disabled={props.busy || wrong !== null || !draft.backend}
      >
        {props.action}
      </button>
      <div className="labdl-TrainForm-foot">
        <span>
          {dataset?.summary}
          {unusable.length === choices.backends.length &&
            ` ${trans.__('No backend is installed.')} ${unusable.map(backend => backend.problem).join(' ')}`}
        </span>
        {props.children}
      </div>
      {wrong && (
        <p className="labdl-TrainForm-wrong" role="alert">
          {wrong}
        </p>
      )}
    </form>
  );
}

function Choice(props: {
  label: string;
  value: string;
  title?: string;
  onChange: React.ChangeEventHandler<HTMLSelectElement>;
  children: React.ReactNode;
}): React.JSX.Element {
  return (
    <label className="labdl-TrainForm-field" title={props.title}>
      <span>{props.label}</span>
      <select value={props.value} onChange={props.onChange}>
        {props.children}
      </select>
    </label>
  );
}

function Entry(props: {
  label: string;
  value: string;
  onChange: React.ChangeEventHandler<HTMLInputElement>;
}): React.JSX.Element {
  return (
    <label className="labdl-TrainForm-field">
      <span>{props.label}</span>
      <input
        type="text"
        inputMode="decimal"
        value={props.value}
        onChange={props.onChange}
      />
    </label>
  );
}
