// Plugin: creates a model graph from a zoo model.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  Dialog,
  ICommandPalette,
  showErrorMessage
} from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { ITranslator } from '@jupyterlab/translation';

import { graphIcon } from '../icons';
import { CATEGORY, FACTORY, ILabDL } from '../tokens';
import { ZooChoice, ZooChooser } from './zoo-chooser';
import { freeName, ZooSettings } from './zoo-models';

const COMMAND = 'labdl:open-zoo';

export const zooPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:zoo',
  description: 'Opens published models by their names.',
  autoStart: true,
  requires: [ILabDL, ITranslator],
  optional: [ICommandPalette, ILauncher, IDefaultFileBrowser],
  activate: (
    app: JupyterFrontEnd,
    { api }: ILabDL,
    translator: ITranslator,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    browser: IDefaultFileBrowser | null
  ): void => {
    const trans = translator.load('labdl');
    const { commands, serviceManager } = app;
    const { contents } = serviceManager;

    const choose = async (): Promise<ZooChoice | null> => {
      const body = new ZooChooser(await api.zoo(), trans, () =>
        dialog.resolve(1)
      );
      const dialog = new Dialog<ZooChoice | null>({
        title: trans.__('Open Model from the Zoo'),
        body,
        buttons: [
          Dialog.cancelButton({ label: trans.__('Cancel') }),
          Dialog.okButton({ label: trans.__('Open') })
        ],
        focusNodeSelector: 'input'
      });
      const { button, value } = await dialog.launch();
      return button.accept ? value : null;
    };

    const open = async (
      name: string,
      settings: ZooSettings,
      folder: string
    ): Promise<unknown> => {
      const [graph, there] = await Promise.all([
        api.zooGraph(name, settings),
        contents.get(folder, { content: true })
      ]);
      const taken = (there.content as { name: string }[]).map(
        file => file.name
      );
      const file = freeName(name, new Set(taken));
      const path = PathExt.join(folder, file);
      await api.writeGraph(contents.localPath(path), graph, { isNew: true });
      return commands.execute('docmanager:open', { path, factory: FACTORY });
    };

    let isBusy = false;
    commands.addCommand(COMMAND, {
      label: args =>
        args.isLauncher
          ? trans.__('Model from the Zoo')
          : trans.__('Open Model from the Zoo…'),
      caption: trans.__('Start from a published model such as ResNet-50'),
      icon: args => (args.isPalette ? undefined : graphIcon),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            cwd: { type: 'string', description: 'The folder for the new file' },
            name: {
              type: 'string',
              description: 'The model; without it a person is asked'
            },
            settings: {
              type: 'object',
              description: 'The settings with which the model is made'
            }
          }
        }
      },
      execute: async args => {
        if (isBusy) {
          return undefined; // requested twice
        }
        isBusy = true;
        const folder =
          typeof args.cwd === 'string' ? args.cwd : (browser?.model.path ?? '');
        try {
          if (typeof args.name === 'string') {
            const settings = (args.settings ?? {}) as ZooSettings;
            return await open(args.name, settings, folder);
          }
          const choice = await choose();
          return choice
            ? await open(choice.model.name, choice.settings, folder)
            : undefined;
        } catch (error) {
          const message = error instanceof Error ? error.message : `${error}`;
          await showErrorMessage(trans.__('The model was not opened'), message);
          return undefined;
        } finally {
          isBusy = false;
        }
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
      rank: 1.5,
      args: { isLauncher: true }
    });
  }
};
