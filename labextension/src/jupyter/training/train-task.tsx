// Task of a training: its transforms prepare the samples, and the form begins with its loss and metrics.

import * as React from 'react';

import type { Translator } from '../../editor';
import { chooseTask, type Draft } from './train-draft';
import { Choice, Entry } from './train-fields';
import type { TrainingChoices, TrainingCode } from './training-settings';

export interface TaskFieldsProps {
  choices: TrainingChoices;
  draft: Draft;
  /** Tasks that fit the model and the data set; null while they are unknown. */
  preview: TrainingCode | null;
  trans: Translator;
  onChange: (change: Partial<Draft>) => void;
}

export function TaskFields(props: TaskFieldsProps): React.JSX.Element {
  const { choices, draft, preview, trans, onChange } = props;
  const task = choices.tasks.find(({ name }) => name === draft.task);
  const names = preview?.tasks ?? [];
  const listed =
    draft.task && !names.includes(draft.task) ? [draft.task, ...names] : names;
  const summary = task ? taskText(task.summary, preview, trans) : null;
  const reason = names.length ? null : preview?.tasks_problem;
  return (
    <div className="labdl-TrainForm-data">
      <div className="labdl-TrainForm-line">
        <Choice
          label={trans.__('Task')}
          value={draft.task ?? ''}
          title={task?.summary ?? reason ?? undefined}
          disabled={!listed.length}
          onChange={name => onChange(chooseTask(choices, name || null))}
        >
          {!(preview?.needs_task && draft.task) && (
            <option value="">{trans.__('none')}</option>
          )}
          {listed.map(name => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </Choice>
        {task && (
          <Entry
            label={trans.__('Size of samples')}
            placeholder={trans.__('that of the model')}
            value={draft.size}
            onChange={size => onChange({ size })}
          />
        )}
      </div>
      {(summary ?? reason) && (
        <p className="labdl-TrainForm-summary labdl-mod-long">
          {summary ?? reason}
        </p>
      )}
    </div>
  );
}

/** First line of a task, and its transforms. */
function taskText(
  summary: string,
  preview: TrainingCode | null,
  trans: Translator
): string {
  const transforms = preview?.transforms ?? [];
  return transforms.length
    ? `${summary} ${trans.__('Transforms: %1.', transforms.join(', '))}`
    : summary;
}
