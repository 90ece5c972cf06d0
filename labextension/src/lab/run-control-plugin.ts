// Plugin: pause, resume and stop as commands, for the run of the panel in front.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, MainAreaWidget } from '@jupyterlab/apputils';
import { ITranslator } from '@jupyterlab/translation';

import type { RunCommand } from '../dashboard/source';
import { RunPanel } from './run-panel';
import { LabRunSource } from './run-source';
import { TrainPanel } from './train';

export const runControlPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:run-control',
  description: 'Commands that pause, resume and stop a training run.',
  autoStart: true,
  requires: [ITranslator],
  optional: [ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    translator: ITranslator,
    palette: ICommandPalette | null
  ): void => {
    const trans = translator.load('labdl');
    const labels: Record<RunCommand, [string, string]> = {
      pause: [
        trans.__('Pause Training'),
        trans.__('Rest after the step under way')
      ],
      resume: [trans.__('Resume Training'), trans.__('Go on after a pause')],
      stop: [
        trans.__('Stop Training'),
        trans.__('End the run; the model keeps what it has learnt')
      ]
    };
    for (const name of Object.keys(labels) as RunCommand[]) {
      const command = `labdl:${name}-run`;
      const [label, caption] = labels[name];
      app.commands.addCommand(command, {
        label,
        caption,
        describedBy: { args: { type: 'object', properties: {} } },
        isEnabled: () => sourceOf(app) !== null,
        execute: () => sourceOf(app)?.command(name)
      });
      palette?.addItem({ command, category: trans.__('Model graph') });
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
