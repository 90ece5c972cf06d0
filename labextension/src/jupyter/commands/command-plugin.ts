// Plugin: commands for model graphs in palette, menus, launcher and toolbar.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { IMainMenu } from '@jupyterlab/mainmenu';
import { ITranslator } from '@jupyterlab/translation';
import { saveIcon } from '@jupyterlab/ui-components';
import { MessageLoop } from '@lumino/messaging';

import { editorCommands } from './editor-commands';
import { graphIcon } from '../icons';
import { CATEGORY, FACTORY, ILabDL } from '../tokens';
import { GraphWidget } from '../documents/document-widget';

/** Makes a new model graph and opens it. */
export const NEW = 'labdl:new';
const SAVE = 'labdl:save';

export const commandPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:commands',
  description: 'Commands on model graphs, and where to find them.',
  autoStart: true,
  requires: [ILabDL, ITranslator],
  optional: [ICommandPalette, ILauncher, IMainMenu, IDefaultFileBrowser],
  activate: (
    app: JupyterFrontEnd,
    { api, tracker }: ILabDL,
    translator: ITranslator,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    menu: IMainMenu | null,
    browser: IDefaultFileBrowser | null
  ): void => {
    const trans = translator.load('labdl');
    const { commands, serviceManager } = app;

    commands.addCommand(NEW, {
      label: args =>
        args.isPalette || args.isContextMenu
          ? trans.__('New Model Graph')
          : trans.__('Model Graph'),
      caption: trans.__('Build a neural network by connecting layers'),
      icon: args => (args.isPalette ? undefined : graphIcon),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            cwd: { type: 'string', description: 'The folder for the new file' }
          }
        }
      },
      execute: async args => {
        const folder =
          typeof args.cwd === 'string' ? args.cwd : (browser?.model.path ?? '');
        const graph = await api.newGraph();
        const file = await serviceManager.contents.newUntitled({
          path: folder,
          type: 'file',
          ext: '.labdl'
        });
        await api.writeGraph(
          serviceManager.contents.localPath(file.path),
          graph
        );
        const widget: GraphWidget | undefined = await commands.execute(
          'docmanager:open',
          {
            path: file.path,
            factory: FACTORY
          }
        );
        if (widget) {
          widget.isUntitled = true; // makes JupyterLab ask for a name at the first save
        }
        return widget;
      }
    });

    commands.addCommand(SAVE, {
      label: trans.__('Save'),
      caption: trans.__('Save the model'),
      icon: saveIcon,
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled: () => {
        const context = tracker.currentWidget?.context;
        // JupyterLab disables saving where the server saves by itself; a person may still request it
        const { collaborative, readOnly } = context?.model ?? {};
        return (!!context?.canSave || !!collaborative) && !readOnly;
      },
      execute: async () => {
        const widget = tracker.currentWidget;
        if (!widget) {
          return;
        }
        // JupyterLab saves the current widget, which may be the Train panel of the model
        app.shell.activateById(widget.id);
        MessageLoop.flush();
        await commands.execute('docmanager:save');
      }
    });

    const watched = editorCommands(trans);
    for (const command of watched) {
      const { id, label, caption, icon, run, enabled, toggled, reads } =
        command;
      commands.addCommand(id, {
        label,
        caption,
        icon,
        describedBy: { args: { type: 'object', properties: {} } },
        isEnabled: () => {
          const widget = tracker.currentWidget;
          return (
            !!widget?.content.actions &&
            (reads === true || !widget.context.model.readOnly) &&
            (enabled?.(widget) ?? true)
          );
        },
        isToggled:
          toggled &&
          (() => !!tracker.currentWidget && toggled(tracker.currentWidget)),
        execute: () => {
          const widget = tracker.currentWidget;
          if (widget?.content.actions) {
            run(widget.content.actions, widget);
          }
        }
      });
      palette?.addItem({ command: id, category: CATEGORY });
    }

    // undo and redo depend on the history; all others on the current document
    const ids = [SAVE, ...watched.map(({ id }) => id)];
    const refresh = () => ids.forEach(id => commands.notifyCommandChanged(id));
    tracker.currentChanged.connect(refresh);
    tracker.widgetAdded.connect((_sender, widget) => {
      widget.content.actionsChanged.connect(refresh);
      const stop = widget.context.model.graph.subscribeHistory(refresh);
      widget.disposed.connect(stop);
    });

    palette?.addItem({
      command: NEW,
      category: CATEGORY,
      args: { isPalette: true }
    });
    launcher?.add({ command: NEW, category: CATEGORY, rank: 1 });
    const isGraph = (widget: unknown) => widget instanceof GraphWidget;
    menu?.editMenu.undoers.undo.add({ id: 'labdl:undo', isEnabled: isGraph });
    menu?.editMenu.undoers.redo.add({ id: 'labdl:redo', isEnabled: isGraph });
  }
};
