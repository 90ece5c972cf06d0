// Plugin: opens the dashboard of a run folder, active or finished.

import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  ICommandPalette,
  InputDialog,
  MainAreaWidget,
  showErrorMessage,
  WidgetTracker
} from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { ITranslator } from '@jupyterlab/translation';

import { runsIcon } from '../icons';
import { RunPanel } from './run-panel';
import { LabRunSource } from './run-source';
import { CATEGORY, ILabDL } from '../tokens';

const COMMAND = 'labdl:open-run';

export const runPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:run',
  description: 'Shows the dashboard of a training run.',
  autoStart: true,
  requires: [ILabDL, ITranslator],
  optional: [ILayoutRestorer, ICommandPalette, IFileBrowserFactory],
  activate: (
    app: JupyterFrontEnd,
    { api }: ILabDL,
    translator: ITranslator,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    browsers: IFileBrowserFactory | null
  ): void => {
    const trans = translator.load('labdl');
    const tracker = new WidgetTracker<MainAreaWidget<RunPanel>>({
      namespace: 'labdl-run'
    });

    /** Folder of the file that is selected in the file browser. */
    const selected = (): string | null => {
      const item = browsers?.tracker.currentWidget?.selectedItems().next();
      return item && !item.done ? PathExt.dirname(item.value.path) : null;
    };

    const ask = async (): Promise<string | null> => {
      const answer = await InputDialog.getText({
        title: trans.__('Open Training Run'),
        label: trans.__('Folder of the run, for example runs/20260101-120000')
      });
      return answer.button.accept ? answer.value : null;
    };

    app.commands.addCommand(COMMAND, {
      label: args =>
        args.selected
          ? trans.__('Show Training Run')
          : trans.__('Open Training Run…'),
      caption: trans.__('Show the dashboard of a training run'),
      icon: runsIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            path: { type: 'string', description: 'The folder of the run' },
            selected: {
              type: 'boolean',
              description:
                'Take the folder of what the file browser has selected'
            }
          }
        }
      },
      execute: async args => {
        const given =
          typeof args.path === 'string'
            ? args.path
            : args.selected
              ? selected()
              : await ask();
        const path = given?.replace(/^\/+|\/+$/g, '');
        if (!path) {
          return;
        }
        let panel = tracker.find(panel => panel.content.source.path === path);
        if (!panel) {
          const found = await api.isRun(path).catch((error: unknown) => error);
          if (found !== true) {
            await showErrorMessage(
              trans.__('Cannot Open the Run'),
              found instanceof Error
                ? found.message
                : trans.__('%1 is not a training run.', path)
            );
            return;
          }
          panel = new MainAreaWidget({
            content: new RunPanel(new LabRunSource(path, api), trans)
          });
          panel.toolbar.hide();
          app.shell.add(panel, 'main');
          await tracker.add(panel);
        }
        app.shell.activateById(panel.id);
      }
    });
    palette?.addItem({ command: COMMAND, category: CATEGORY });

    if (restorer) {
      void restorer.restore(tracker, {
        command: COMMAND,
        args: panel => ({ path: panel.content.source.path }),
        name: panel => panel.content.source.path
      });
    }
  }
};
