// Plugin: what a person can do to a model graph, as commands in palette, menus, launcher and toolbar.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { IMainMenu } from '@jupyterlab/mainmenu';
import { ITranslator } from '@jupyterlab/translation';
import {
  addIcon,
  codeIcon,
  copyIcon,
  cutIcon,
  deleteIcon,
  duplicateIcon,
  LabIcon,
  pasteIcon,
  redoIcon,
  saveIcon,
  undoIcon
} from '@jupyterlab/ui-components';
import { MessageLoop } from '@lumino/messaging';

import type { EditorActions, Translator } from '../editor';
import { fitIcon, graphIcon, layoutIcon } from './icons';
import { FACTORY, ILabDL } from './tokens';
import { GraphWidget } from './widget';

const NEW = 'labdl:new';
const SAVE = 'labdl:save';

interface EditorCommand {
  id: string;
  label: string;
  caption: string;
  icon?: LabIcon;
  run: (actions: EditorActions) => void;
  enabled?: (widget: GraphWidget) => boolean;
}

function editorCommands(trans: Translator): EditorCommand[] {
  return [
    {
      id: 'labdl:undo',
      label: trans.__('Undo'),
      caption: trans.__('Undo the last change of the graph'),
      icon: undoIcon,
      run: actions => actions.undo(),
      enabled: widget => widget.context.model.graph.canUndo()
    },
    {
      id: 'labdl:redo',
      label: trans.__('Redo'),
      caption: trans.__('Make the change again that was undone'),
      icon: redoIcon,
      run: actions => actions.redo(),
      enabled: widget => widget.context.model.graph.canRedo()
    },
    {
      id: 'labdl:cut',
      label: trans.__('Cut'),
      caption: trans.__('Cut the selected layers'),
      icon: cutIcon,
      run: actions => void actions.cut()
    },
    {
      id: 'labdl:copy',
      label: trans.__('Copy'),
      caption: trans.__('Copy the selected layers'),
      icon: copyIcon,
      run: actions => void actions.copy()
    },
    {
      id: 'labdl:paste',
      label: trans.__('Paste'),
      caption: trans.__('Paste the layers that were copied'),
      icon: pasteIcon,
      run: actions => void actions.paste()
    },
    {
      id: 'labdl:duplicate',
      label: trans.__('Duplicate'),
      caption: trans.__('Duplicate the selected layers'),
      icon: duplicateIcon,
      run: actions => actions.duplicate()
    },
    {
      id: 'labdl:delete',
      label: trans.__('Delete'),
      caption: trans.__('Delete the selected layers and connections'),
      icon: deleteIcon,
      run: actions => actions.deleteSelection()
    },
    {
      id: 'labdl:select-all',
      label: trans.__('Select All'),
      caption: trans.__('Select all layers'),
      run: actions => actions.selectAll()
    },
    {
      id: 'labdl:add-layer',
      label: trans.__('Add Layer…'),
      caption: trans.__('Add a layer after the selected ones (Shift+A)'),
      icon: addIcon,
      // later, since the command palette gives the focus back where it was
      run: actions => void setTimeout(() => actions.openMenu())
    },
    {
      id: 'labdl:auto-layout',
      label: trans.__('Arrange Automatically'),
      caption: trans.__('Arrange the layers automatically'),
      icon: layoutIcon,
      run: actions => actions.autoLayout()
    },
    {
      id: 'labdl:arrange-right',
      label: trans.__('Arrange from Left to Right'),
      caption: trans.__('Arrange the layers from left to right'),
      run: actions => actions.autoLayout('right')
    },
    {
      id: 'labdl:arrange-down',
      label: trans.__('Arrange from Top to Bottom'),
      caption: trans.__('Arrange the layers from top to bottom'),
      run: actions => actions.autoLayout('down')
    },
    {
      id: 'labdl:show-code',
      label: trans.__('Show Python Code'),
      caption: trans.__('Show the model as Python code'),
      icon: codeIcon,
      run: actions => actions.showCode()
    },
    {
      id: 'labdl:fit',
      label: trans.__('Fit to View'),
      caption: trans.__('Show the whole graph'),
      icon: fitIcon,
      run: actions => actions.fit()
    },
    {
      id: 'labdl:zoom-in',
      label: trans.__('Zoom In'),
      caption: trans.__('Show the graph larger'),
      run: actions => actions.zoomIn()
    },
    {
      id: 'labdl:zoom-out',
      label: trans.__('Zoom Out'),
      caption: trans.__('Show the graph smaller'),
      run: actions => actions.zoomOut()
    }
  ];
}

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
    const category = trans.__('Model graph');

    commands.addCommand(NEW, {
      label: args =>
        args.isPalette || args.isContextMenu
          ? trans.__('New Model Graph')
          : trans.__('Model graph'),
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
          widget.isUntitled = true; // JupyterLab then asks for a name at the first save
        }
        return widget;
      }
    });

    commands.addCommand(SAVE, {
      label: trans.__('Save'),
      caption: trans.__('Save the model'),
      icon: saveIcon,
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled: () => tracker.currentWidget?.context.canSave ?? false,
      execute: async () => {
        const widget = tracker.currentWidget;
        if (!widget) {
          return;
        }
        // JupyterLab saves what is in front, and the panel that trains the model may be
        app.shell.activateById(widget.id);
        MessageLoop.flush();
        await commands.execute('docmanager:save');
      }
    });

    const watched = editorCommands(trans);
    for (const command of watched) {
      const { id, label, caption, icon, run, enabled } = command;
      commands.addCommand(id, {
        label,
        caption,
        icon,
        describedBy: { args: { type: 'object', properties: {} } },
        isEnabled: () => {
          const widget = tracker.currentWidget;
          return !!widget?.content.actions && (enabled?.(widget) ?? true);
        },
        execute: () => {
          const actions = tracker.currentWidget?.content.actions;
          if (actions) {
            run(actions);
          }
        }
      });
      palette?.addItem({ command: id, category });
    }

    // undo and redo come and go with the history; all others with the document in front
    const ids = [SAVE, ...watched.map(({ id }) => id)];
    const refresh = () => ids.forEach(id => commands.notifyCommandChanged(id));
    tracker.currentChanged.connect(refresh);
    tracker.widgetAdded.connect((_sender, widget) => {
      widget.content.actionsChanged.connect(refresh);
      const stop = widget.context.model.graph.subscribeHistory(refresh);
      widget.disposed.connect(stop);
    });

    palette?.addItem({ command: NEW, category, args: { isPalette: true } });
    launcher?.add({ command: NEW, category: trans.__('Other'), rank: 1 });
    const isGraph = (widget: unknown) => widget instanceof GraphWidget;
    menu?.editMenu.undoers.undo.add({ id: 'labdl:undo', isEnabled: isGraph });
    menu?.editMenu.undoers.redo.add({ id: 'labdl:redo', isEnabled: isGraph });
  }
};
