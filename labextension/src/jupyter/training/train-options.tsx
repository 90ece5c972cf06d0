// Advanced options of a training, folded by default: settings of the parts, schedule, early stopping, seed.

import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { SettingsForm } from '../../editor';
import type { ParamSchema, Translator } from '../../editor';
import type { Draft } from './train-draft';
import { Choice, Entry, Switch } from './train-fields';
import type { ChosenSettings, TrainingChoices } from './training-settings';

export interface MoreProps {
  choices: TrainingChoices;
  draft: Draft;
  trans: Translator;
  onChange: (change: Partial<Draft>) => void;
}

export function More(props: MoreProps): React.JSX.Element {
  const { trans } = props;
  const [isOpen, setOpen] = React.useState(false);
  const Caret = isOpen ? caretDownIcon : caretRightIcon;
  return (
    <div className="labdl-TrainForm-more">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Caret.react tag="span" />
        {trans.__('More settings')}
      </button>
      {isOpen && <Parts {...props} />}
    </div>
  );
}

function Parts(props: MoreProps): React.JSX.Element {
  const { choices, draft, trans, onChange } = props;
  const optimizer = choices.optimizers.find(
    ({ name }) => name === draft.optimizer
  );
  const loss = choices.losses.find(({ name }) => name === draft.loss);
  const schedule = choices.schedules.find(
    ({ name }) => name === draft.schedule
  );
  const figures = React.useMemo(
    () => figuresOf(draft.metrics),
    [draft.metrics]
  );
  const stopping = React.useMemo(
    () => withFigures(choices.stopping, 'monitor', figures),
    [choices, figures]
  );
  const scheduling = React.useMemo(
    () => schedule && withFigures(schedule.schema, 'metric', figures),
    [schedule, figures]
  );
  return (
    <div className="labdl-TrainForm-parts">
      {optimizer && (
        <Part
          title={trans.__('Optimizer: %1', optimizer.name)}
          summary={optimizer.summary}
        >
          <div className="labdl-TrainForm-grid">
            <SettingsForm
              key={optimizer.name}
              id="labdl-optimizer"
              schema={optimizer.schema}
              values={draft.optimizer_settings}
              trans={trans}
              onChange={optimizer_settings => onChange({ optimizer_settings })}
            />
          </div>
        </Part>
      )}
      {loss && Object.keys(loss.schema.properties ?? {}).length > 0 && (
        <Part title={trans.__('Loss: %1', loss.name)} summary={loss.summary}>
          <div className="labdl-TrainForm-grid">
            <SettingsForm
              key={loss.name}
              id="labdl-loss"
              schema={loss.schema}
              values={draft.loss_settings}
              trans={trans}
              onChange={loss_settings => onChange({ loss_settings })}
            />
          </div>
        </Part>
      )}
      <Part
        title={trans.__('Learning rate schedule')}
        summary={schedule?.summary}
        note={
          scheduling?.properties?.metric &&
          directionText(
            choices,
            scheduling,
            'metric',
            draft.schedule_settings,
            trans
          )
        }
      >
        <div className="labdl-TrainForm-grid">
          <Choice
            label={trans.__('Schedule')}
            value={draft.schedule ?? ''}
            onChange={name =>
              onChange({ schedule: name || null, schedule_settings: {} })
            }
          >
            <option value="">{trans.__('none')}</option>
            {choices.schedules.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </Choice>
          {scheduling && (
            <SettingsForm
              key={draft.schedule}
              id="labdl-schedule"
              schema={scheduling}
              values={draft.schedule_settings}
              trans={trans}
              onChange={schedule_settings => onChange({ schedule_settings })}
            />
          )}
        </div>
      </Part>
      <Part
        title={trans.__('Early stopping')}
        note={
          draft.stopping &&
          directionText(choices, stopping, 'monitor', draft.stopping, trans)
        }
      >
        <Switch
          label={trans.__('Stop when a metric no longer improves')}
          checked={draft.stopping !== null}
          onChange={isOn => onChange({ stopping: isOn ? {} : null })}
        />
        {draft.stopping && (
          <div className="labdl-TrainForm-grid">
            <SettingsForm
              id="labdl-stopping"
              schema={stopping}
              values={draft.stopping}
              trans={trans}
              onChange={values => onChange({ stopping: values })}
            />
          </div>
        )}
      </Part>
      <Part title={trans.__('Steps')}>
        <div className="labdl-TrainForm-grid">
          <Entry
            label={trans.__('Seed')}
            value={draft.seed}
            onChange={seed => onChange({ seed })}
          />
          <SettingsForm
            id="labdl-options"
            schema={choices.options}
            values={draft.options}
            trans={trans}
            onChange={options => onChange({ options })}
          />
        </div>
      </Part>
    </div>
  );
}

function Part(props: {
  title: string;
  summary?: string;
  note?: string | null;
  children: React.ReactNode;
}): React.JSX.Element {
  return (
    <section>
      <h4>{props.title}</h4>
      {props.summary && (
        <p className="labdl-TrainForm-summary">{props.summary}</p>
      )}
      {props.children}
      {props.note && <p className="labdl-TrainForm-summary">{props.note}</p>}
    </section>
  );
}

/** Whether higher values of the chosen metric are better, as the settings or the metric itself say. */
function directionText(
  choices: TrainingChoices,
  schema: ParamSchema,
  setting: string,
  values: ChosenSettings,
  trans: Translator
): string | null {
  const name = `${values[setting] ?? schema.properties?.[setting]?.default ?? ''}`;
  const mode = values.mode ?? 'auto';
  const metric = choices.metrics.find(
    each => each.name === name.replace(/^val_/, '')
  );
  const isHigher =
    mode === 'auto'
      ? metric
        ? metric.higher_is_better
        : false // a loss
      : mode === 'max';
  return isHigher
    ? trans.__('%1: higher is better', name)
    : trans.__('%1: lower is better', name);
}

/** Names of the values that an epoch has. */
function figuresOf(metrics: string[]): string[] {
  const names = ['loss', ...metrics];
  return [...names.map(name => `val_${name}`), ...names];
}

/** Schema in which one setting is a menu of those names. */
function withFigures(
  schema: ParamSchema,
  setting: string,
  figures: string[]
): ParamSchema {
  const { properties = {} } = schema;
  if (!(setting in properties)) {
    return schema;
  }
  const { title, default: usual } = properties[setting];
  const menu = { title, default: usual, enum: figures };
  return { ...schema, properties: { ...properties, [setting]: menu } };
}
