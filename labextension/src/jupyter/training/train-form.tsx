// Form for the settings of a training.

import * as React from 'react';

import type { Translator } from '../../editor';
import { Form } from '../../ui/Form';
import { DataFields } from './train-data';
import {
  adaptTask,
  byKind,
  chooseTask,
  Draft,
  draftOf,
  NEW_TABLE,
  settingsOf,
  adaptToModel
} from './train-draft';
import { Choice, Entry, Groups } from './train-fields';
import { Metrics } from './train-metrics';
import { TaskFields } from './train-task';
import { More } from './train-options';
import type {
  DataFileInfo,
  Shape,
  TrainingChoices,
  TrainingCode,
  TrainingSettings
} from './training-settings';
import { fits, isDataFile, shapeText } from './training-settings';
import type { ChosenFile } from './training-state';

export interface TrainFormProps {
  choices: TrainingChoices;
  /** Initial settings. */
  settings: TrainingSettings | null;
  /** Code of these settings; null while it is unknown. */
  preview: TrainingCode | null;
  file: DataFileInfo | null;
  /** Reason why these settings are not valid. */
  problem: string | null;
  /** A data file that another view has chosen. */
  chosen?: ChosenFile | null;
  /** Sets the shape of the model's input; null where that is not possible. */
  setInputShape?: ((shape: Shape) => void) | null;
  busy: boolean;
  /** Label of the button. */
  action: string;
  trans: Translator;
  pickFile?: () => Promise<string | null>;
  pickFolder?: () => Promise<string | null>;
  /** Content beside the button. */
  children?: React.ReactNode;
  onChange: (settings: TrainingSettings | null) => void;
  onTrain: (settings: TrainingSettings) => void;
}

export function TrainForm(props: TrainFormProps): React.JSX.Element {
  const { choices, preview, file, trans, onChange } = props;
  const [draft, setDraft] = React.useState(() =>
    draftOf(choices, props.settings)
  );
  const form = React.useRef<HTMLFormElement>(null);
  const settings = settingsOf(draft, trans);
  const wrong = typeof settings === 'string' ? settings : null;

  const dataset = choices.datasets.find(({ name }) => name === draft.dataset);
  const kind = isDataFile(draft.dataset) ? file?.kind : dataset?.kind;
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const task = choices.tasks.find(({ name }) => name === draft.task);

  // the kind of a file is known only after it was read
  React.useEffect(
    () => setDraft(now => adaptToModel(now, choices, kind)),
    [choices, kind]
  );
  const setData = (change: Partial<Draft>) =>
    setDraft(now => ({
      ...now,
      ...change,
      // its tasks are known when the server has read it
      ...(now.task && 'dataset' in change ? chooseTask(choices, null) : {})
    }));
  React.useEffect(() => {
    if (props.chosen) {
      setData({ ...NEW_TABLE, dataset: props.chosen.dataset });
    }
  }, [props.chosen]);
  React.useEffect(() => {
    if (preview) {
      setDraft(now => adaptTask(now, choices, preview));
    }
  }, [preview]);
  React.useEffect(() => {
    const read = settingsOf(draft, trans);
    onChange(typeof read === 'string' ? null : read);
  }, [draft]);

  const samples = isDataFile(draft.dataset)
    ? file?.input_shape
    : dataset?.input_shape;
  const isMisfit =
    preview?.inputs.length === 1 && !fits(samples ?? null, preview.inputs[0]);
  const misfit = isMisfit ? samples : null;

  const losses = byKind(choices.losses, kind);
  const backend = choices.backends.find(({ name }) => name === draft.backend);
  const loss = choices.losses.find(({ name }) => name === draft.loss);
  const unusable = choices.backends.filter(({ problem }) => problem);
  const problems = [
    wrong ?? props.problem,
    ...(wrong ? [] : (preview?.problems ?? [])),
    unusable.length === choices.backends.length
      ? `${trans.__('No backend is installed.')} ${unusable.map(({ problem }) => problem).join(' ')}`
      : null
  ].filter(problem => problem !== null);

  const submit = () => {
    const invalid = form.current?.querySelector<HTMLElement>(
      '[aria-invalid="true"]'
    );
    if (invalid) {
      invalid.focus(); // its error message is beside it
    } else if (typeof settings !== 'string') {
      props.onTrain(settings);
    }
  };

  return (
    <Form
      ref={form}
      className="labdl-TrainForm"
      aria-label={trans.__('Training')}
      onSubmit={submit}
    >
      <DataFields
        datasets={choices.datasets}
        draft={draft}
        file={file}
        input={preview?.inputs[0]}
        trans={trans}
        pickFile={props.pickFile}
        pickFolder={props.pickFolder}
        onChange={setData}
      />
      <TaskFields
        choices={choices}
        draft={draft}
        preview={preview}
        trans={trans}
        onChange={set}
      />
      <div className="labdl-TrainForm-grid">
        {task?.loss === null ? (
          <Choice label={trans.__('Loss')} value="" disabled={true}>
            <option value="">{trans.__('of the model')}</option>
          </Choice>
        ) : (
          <Choice
            label={trans.__('Loss')}
            value={draft.loss}
            title={loss?.summary}
            onChange={name => set({ loss: name, loss_settings: {} })}
          >
            <Groups
              {...losses}
              fittingLabel={trans.__('Suitable for this data')}
              othersLabel={trans.__('For other data')}
            />
          </Choice>
        )}
        <Choice
          label={trans.__('Optimizer')}
          value={draft.optimizer}
          title={
            choices.optimizers.find(({ name }) => name === draft.optimizer)
              ?.summary
          }
          onChange={name => set({ optimizer: name, optimizer_settings: {} })}
        >
          {choices.optimizers.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </Choice>
        <Entry
          label={trans.__('Learning rate')}
          value={draft.learning_rate}
          onChange={learning_rate => set({ learning_rate })}
        />
        <Entry
          label={trans.__('Epochs')}
          value={draft.epochs}
          onChange={epochs => set({ epochs })}
        />
        <Entry
          label={trans.__('Batch size')}
          value={draft.batch_size}
          onChange={batch_size => set({ batch_size })}
        />
        <Choice
          label={trans.__('Backend')}
          value={draft.backend}
          onChange={name => set({ backend: name })}
          title={`${draft.backend} ${backend?.version ?? ''}`}
        >
          {choices.backends.map(({ name, problem }) => (
            <option key={name} value={name} disabled={problem !== null}>
              {problem ? `${name}: ${problem}` : name}
            </option>
          ))}
        </Choice>
        <Choice
          label={trans.__('Parameters')}
          value={draft.parameters}
          title={trans.__('Initial parameters of the training')}
          onChange={value =>
            set({ parameters: value === 'saved' ? 'saved' : 'new' })
          }
        >
          <option value="new">{trans.__('New parameters')}</option>
          <option
            value="saved"
            disabled={
              preview?.has_parameters === false && draft.parameters !== 'saved'
            }
          >
            {trans.__('Saved parameters')}
          </option>
        </Choice>
      </div>
      <Metrics
        offers={choices.metrics}
        chosen={draft.metrics}
        kind={kind}
        trans={trans}
        onChange={metrics => set({ metrics })}
      />
      <More choices={choices} draft={draft} trans={trans} onChange={set} />
      <div className="labdl-TrainForm-problems" role="alert">
        {problems.map(problem => (
          <p key={problem}>{problem}</p>
        ))}
      </div>
      {misfit && props.setInputShape && (
        <button
          type="button"
          className="jp-mod-styled labdl-TrainForm-fit"
          onClick={() => props.setInputShape?.(misfit)}
        >
          {trans.__('Set the model’s input to %1', shapeText(misfit))}
        </button>
      )}
      <div className="labdl-TrainForm-foot">
        <button
          type="submit"
          className="jp-mod-styled jp-mod-accept labdl-TrainForm-train"
          disabled={props.busy || problems.length > 0 || !draft.backend}
        >
          {props.action}
        </button>
        {props.children}
      </div>
    </Form>
  );
}
