// Plugin: shows a model's Python in JupyterLab's code editor, and adds it to a notebook.

import {
  ILabShell,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, showErrorMessage } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { PathExt } from '@jupyterlab/coreutils';
import { ITranslator } from '@jupyterlab/translation';
import { notebookIcon } from '@jupyterlab/ui-components';

import { codeMirrorSource } from './code-editor';
import { addCell, notebookIn } from './code-notebook';
import { CATEGORY, ILabDL } from '../tokens';

const SEND = 'labdl:send-to-notebook';

export const codePlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:code',
  description: "Edits a model's Python, and sends it to a notebook.",
  autoStart: true,
  requires: [ILabDL, ITranslator],
  optional: [IEditorServices, ICommandPalette, ILabShell],
  activate: (
    app: JupyterFrontEnd,
    { api, tracker }: ILabDL,
    translator: ITranslator,
    services: IEditorServices | null,
    palette: ICommandPalette | null,
    shell: ILabShell | null
  ): void => {
    const trans = translator.load('labdl');
    const { commands } = app;
    if (services) {
      api.sourceEditor = codeMirrorSource(services);
    }
    api.sendCode = source => void commands.execute(SEND, { source });

    // The most recent notebook, since none is current while a model is.
    let last = notebookIn(app.shell.currentWidget);
    shell?.currentChanged.connect((_sender, { newValue }) => {
      last = notebookIn(newValue) ?? last;
    });
    const lastOpen = () => {
      const open = [...app.shell.widgets('main')];
      const panels = open.map(notebookIn).filter(found => found !== null);
      const known = panels.find(({ panel }) => panel === last?.panel);
      return known ?? panels[0] ?? null;
    };

    commands.addCommand(SEND, {
      label: trans.__('Send to Notebook'),
      caption: trans.__('Insert the model’s Python code into a notebook'),
      icon: notebookIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            source: {
              type: 'string',
              description: 'The code, if not that of the graph'
            },
            path: {
              type: 'string',
              description: 'The model file, by default the one in front'
            }
          }
        }
      },
      isEnabled: args =>
        typeof args.source === 'string' || tracker.currentWidget !== null,
      execute: async args => {
        const context = tracker.currentWidget?.context;
        const path = args.path ?? context?.path;
        try {
          const source =
            args.source ??
            (context && (await api.code(context.model.graph.snapshot())));
          if (typeof source !== 'string' || typeof path !== 'string') {
            return;
          }
          const found = lastOpen();
          if (found) {
            app.shell.activateById(found.panel.id);
            addCell(found, source);
            return;
          }
          const made: unknown = await commands.execute('notebook:create-new', {
            cwd: PathExt.dirname(path)
          });
          const created = notebookIn(made);
          await created?.panel.context.ready;
          if (created) {
            addCell(created, source);
          }
        } catch (error) {
          const message = error instanceof Error ? error.message : `${error}`;
          await showErrorMessage(
            trans.__('The code was not sent to a notebook'),
            message
          );
        }
      }
    });
    palette?.addItem({ command: SEND, category: CATEGORY });
    tracker.currentChanged.connect(() => commands.notifyCommandChanged(SEND));
  }
};
