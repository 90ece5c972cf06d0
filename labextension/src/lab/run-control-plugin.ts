// Plugin: what a run can be told as commands, for the run of the panel in front.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  ICommandPalette,
  InputDialog,
  MainAreaWidget
} from '@jupyterlab/apputils';
import { ITranslator } from '@jupyterlab/translation';

import type { PlainCommand, ValuedCommand } from '../dashboard/source';
import { RunPanel } from './run-panel';
import { LabRunSource } from './run-source';
import { TrainPanel } from './train';

export const runControlPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:run-control',
  description: 'Commands that pause, resume, stop and change a training run.',
  autoStart: true,
  requires: [ITranslator],
  optional: [ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    translator: ITranslator,
    palette: ICommandPalette | null
  ): void => {
    const trans = translator.load('labdl');
    const labels: Record<PlainCommand, [string, string]> = {
      pause: [
        trans.__('Pause Training'),
        trans.__('Rest after the step under way')
      ],
      resume: [trans.__('Resume Training'), trans.__('Go on after a pause')],
      stop: [
        trans.__('Stop Training'),
        trans.__('End the run; the model keeps what it has learnt')
      ],
      checkpoint: [
        trans.__('Keep a Checkpoint of the Training'),
        trans.__('Write the state of the training after the step under way')
      ]
    };
    const questions: Record<ValuedCommand, [string, string, string]> = {
      learning_rate: [
        trans.__('Set the Learning Rate of the Training…'),
        trans.__('Learn at another rate from the next step on'),
        trans.__('Learning rate, at least 0')
      ],
      add_epochs: [
        trans.__('Add Epochs to the Training…'),
        trans.__('Train longer than was planned'),
        trans.__('How many epochs more')
      ]
    };
    const category = trans.__('Model graph');
    for (const name of Object.keys(labels) as PlainCommand[]) {
      const command = `labdl:${name}-run`;
      const [label, caption] = labels[name];
      app.commands.addCommand(command, {
        label,
        caption,
        describedBy: { args: { type: 'object', properties: {} } },
        isEnabled: () => sourceOf(app) !== null,
        execute: () => sourceOf(app)?.command(name)
      });
      palette?.addItem({ command, category });
    }
    for (const name of Object.keys(questions) as ValuedCommand[]) {
      const command = `labdl:${name.replace('_', '-')}-run`;
      const [label, caption, question] = questions[name];
      app.commands.addCommand(command, {
        label,
        caption,
        describedBy: {
          args: {
            type: 'object',
            properties: { value: { type: 'number', description: question } }
          }
        },
        isEnabled: () => sourceOf(app) !== null,
        execute: async args => {
          const source = sourceOf(app);
          const value =
            typeof args.value === 'number'
              ? args.value
              : (await InputDialog.getNumber({ title: label, label: question }))
                  .value;
          if (value !== null) {
            await source?.command(name, value);
          }
        }
      });
      palette?.addItem({ command, category });
    }
  }
};

/** The run that the panel in front shows, if it shows one that still goes on. */
function sourceOf(app: JupyterFrontEnd): LabRunSource | null {
  const front = app.shell.currentWidget;
  const content = front instanceof MainAreaWidget ? front.content : null;
  const source =
    content instanceof RunPanel
      ? content.source
      : content instanceof TrainPanel
        ? content.training.source
        : null;
  return source?.live ? source : null;
}
