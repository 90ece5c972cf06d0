// Plugin: commands for the run of the current panel.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  ICommandPalette,
  InputDialog,
  MainAreaWidget
} from '@jupyterlab/apputils';
import { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type {
  BranchValue,
  PlainCommand,
  ValuedCommand
} from '../../runs/store/source';
import { readRate } from '../../runs/dashboard/parse-input';
import { RunPanel } from './run-panel';
import { LabRunSource } from './run-source';
import { TrainPanel } from '../training/train-panel';
import { CATEGORY } from '../tokens';

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
        trans.__('Pause after the current step')
      ],
      resume: [trans.__('Resume Training'), trans.__('Continue after a pause')],
      step: [
        trans.__('Run One Training Step'),
        trans.__('Run one more step of a paused run')
      ],
      stop: [
        trans.__('Stop Training'),
        trans.__('End the run; the model keeps what it has learned')
      ],
      checkpoint: [
        trans.__('Save a Training Checkpoint'),
        trans.__('Save the training state after the current step')
      ]
    };
    const questions: Record<ValuedCommand, [string, string, string]> = {
      learning_rate: [
        trans.__('Set the Learning Rate…'),
        trans.__('Change the learning rate from the next step on'),
        trans.__('Learning rate, at least 0')
      ],
      add_epochs: [
        trans.__('Add Epochs…'),
        trans.__('Train for more epochs'),
        trans.__('Number of epochs to add')
      ]
    };
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
      palette?.addItem({ command, category: CATEGORY });
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
      palette?.addItem({ command, category: CATEGORY });
    }
    const branch = 'labdl:branch-run';
    app.commands.addCommand(branch, {
      label: trans.__('Branch the Training…'),
      caption: trans.__(
        'Start another run with the state after the current step'
      ),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            learning_rate: { type: 'number', minimum: 0 },
            epochs: { type: 'integer', minimum: 1 }
          }
        }
      },
      isEnabled: () => sourceOf(app) !== null,
      execute: async args => {
        const source = sourceOf(app);
        const value = branchValue(args) ?? (await askBranch(trans));
        if (value) {
          await source?.command('branch', value);
        }
      }
    });
    palette?.addItem({ command: branch, category: CATEGORY });
  }
};

/** Source of the run in the current panel, if the run is active. */
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

/** Values in the arguments of the command; null where there are none. */
function branchValue(args: ReadonlyPartialJSONObject): BranchValue | null {
  const { learning_rate: rate, epochs } = args;
  return typeof rate === 'number' || typeof epochs === 'number'
    ? {
        ...(typeof rate === 'number' ? { learning_rate: rate } : {}),
        ...(typeof epochs === 'number' ? { epochs } : {})
      }
    : null;
}

/** Asks for the learning rate of the new run; null if canceled. */
async function askBranch(
  trans: TranslationBundle
): Promise<BranchValue | null> {
  const { button, value } = await InputDialog.getText({
    title: trans.__('Start a new run from the current state'),
    label: trans.__('Learning rate (empty: unchanged)')
  });
  const text = value?.trim() ?? '';
  if (!button.accept) {
    return null;
  }
  const rate = text === '' ? undefined : readRate(text, trans);
  if (typeof rate === 'string') {
    throw new Error(rate);
  }
  return rate === undefined ? {} : { learning_rate: rate };
}
