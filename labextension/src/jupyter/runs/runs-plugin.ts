// Plugin: opens the runs of a folder as a live table with comparison.

import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  ICommandPalette,
  MainAreaWidget,
  WidgetTracker
} from '@jupyterlab/apputils';
import {
  IDefaultFileBrowser,
  IFileBrowserFactory
} from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { ITranslator } from '@jupyterlab/translation';

import { runsIcon } from '../icons';
import { RunsPanel } from './runs-panel';
import { LabRunsSource } from './runs-source';
import { CATEGORY, ILabDL } from '../tokens';

const COMMAND = 'labdl:runs';

export const runsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:runs',
  description: 'Lists and compares the training runs of a folder.',
  autoStart: true,
  requires: [ILabDL, ITranslator],
  optional: [
    ILayoutRestorer,
    ICommandPalette,
    ILauncher,
    IDefaultFileBrowser,
    IFileBrowserFactory
  ],
  activate: (
    app: JupyterFrontEnd,
    { api }: ILabDL,
    translator: ITranslator,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    browser: IDefaultFileBrowser | null,
    browsers: IFileBrowserFactory | null
  ): void => {
    const trans = translator.load('labdl');
    const { commands, serviceManager, shell } = app;
    const tracker = new WidgetTracker<MainAreaWidget<RunsPanel>>({
      namespace: 'labdl-runs'
    });

    /** Folder that is selected in the file browser, else its current one. */
    const folderOf = (args: {
      path?: unknown;
      cwd?: unknown;
      selected?: unknown;
    }): string => {
      const item = browsers?.tracker.currentWidget?.selectedItems().next();
      const isFolder = item && !item.done && item.value.type === 'directory';
      const given =
        typeof args.path === 'string'
          ? args.path
          : args.selected && isFolder
            ? item.value.path
            : typeof args.cwd === 'string'
              ? args.cwd
              : (browser?.model.path ?? '');
      return serviceManager.contents.localPath(given).replace(/^\/+|\/+$/g, '');
    };

    const open = (path: string, isFolder: boolean) =>
      void commands.execute(isFolder ? COMMAND : 'labdl:open-run', { path });

    commands.addCommand(COMMAND, {
      label: args =>
        args.selected
          ? trans.__('Show Training Runs')
          : trans.__('Training Runs'),
      caption: trans.__('List and compare the training runs of a folder'),
      icon: args => (args.isPalette ? undefined : runsIcon),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            path: { type: 'string', description: 'The folder' },
            cwd: {
              type: 'string',
              description: 'The folder, where no other is given'
            },
            selected: {
              type: 'boolean',
              description: 'Take the folder that the file browser has selected'
            }
          }
        }
      },
      execute: async args => {
        const folder = folderOf(args);
        let panel = tracker.find(
          ({ content }) => content.source.folder === folder
        );
        if (!panel) {
          const source = new LabRunsSource(folder, api, open);
          panel = new MainAreaWidget({ content: new RunsPanel(source, trans) });
          panel.toolbar.hide();
          shell.add(panel, 'main');
          await tracker.add(panel);
        }
        shell.activateById(panel.id);
      }
    });

    palette?.addItem({
      command: COMMAND,
      category: CATEGORY,
      args: { isPalette: true }
    });
    launcher?.add({
      command: COMMAND,
      category: CATEGORY,
      rank: 1.6
    });
    if (restorer) {
      void restorer.restore(tracker, {
        command: COMMAND,
        args: ({ content }) => ({ path: content.source.folder }),
        name: ({ content }) => content.source.folder || '/'
      });
    }
  }
};
