// Plugin: the panel that trains a model, beside the model's editor.

import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  ICommandPalette,
  ISessionContextDialogs,
  MainAreaWidget,
  WidgetTracker
} from '@jupyterlab/apputils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator } from '@jupyterlab/translation';
import { runIcon } from '@jupyterlab/ui-components';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';

import { saveForKernel } from '../documents/collaboration';
import { dataFilePicker, dataFolderPicker } from './data-file';
import { showLayer } from '../commands/show-layer';
import { CATEGORY, ILabDL } from '../tokens';
import { TrainPanel } from './train-panel';
import { addKernelItems } from './train-toolbar';
import { Training } from './training';
import { TrainingStorage } from './training-storage';
import type { TrainingState } from './training-state';

const COMMAND = 'labdl:train';
const SEND = 'labdl:send-to-notebook';
/** Width in pixels that an editor and the panel need side by side, and height that they need one below the other. */
const ROOM_BESIDE = 860;
const ROOM_BELOW = 480;

export const trainPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:train',
  description: 'Trains the model of a graph in a kernel and shows the run.',
  autoStart: true,
  requires: [ILabDL, ITranslator],
  optional: [
    ILayoutRestorer,
    ICommandPalette,
    ISessionContextDialogs,
    IDefaultFileBrowser,
    IStateDB
  ],
  activate: (
    app: JupyterFrontEnd,
    { api, tracker: graphs, runs }: ILabDL,
    translator: ITranslator,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    dialogs: ISessionContextDialogs | null,
    browser: IDefaultFileBrowser | null,
    database: IStateDB | null
  ): void => {
    const trans = translator.load('labdl');
    const tracker = new WidgetTracker<MainAreaWidget<TrainPanel>>({
      namespace: 'labdl-train'
    });

    const save = async (path: string): Promise<void> => {
      const context = graphs.find(
        ({ context }) => context.path === path
      )?.context;
      if (context) {
        const { contents } = app.serviceManager;
        await saveForKernel(context, { contents, api, trans });
      }
    };

    const memory = new TrainingStorage(database);
    const graphOf = (path: string) =>
      graphs.find(({ context }) => context.path === path)?.context.model.graph;

    const create = (state: TrainingState): MainAreaWidget<TrainPanel> => {
      const training = new Training({
        state,
        api,
        services: app.serviceManager,
        dialogs: dialogs ?? undefined,
        save,
        graphOf,
        trans
      });
      runs.add(training);
      const content = new TrainPanel(training, {
        pickFile: browser
          ? dataFilePicker(browser.model.manager, translator, trans)
          : undefined,
        pickFolder: browser
          ? dataFolderPicker(browser.model.manager, translator, trans)
          : undefined,
        showLayer: (path, layer) => void showLayer(app, graphs, path, layer),
        sendCode: (source, path) =>
          void app.commands.execute(SEND, { source, path }),
        trans
      });
      const panel = new MainAreaWidget({ content });
      addKernelItems(panel.toolbar, training.kernels, trans);
      let kept = training.state;
      training.stateChanged.connect(() => {
        if (training.state !== kept) {
          kept = training.state;
          memory.keep(kept);
          void tracker.save(panel);
        }
      });
      return panel;
    };

    app.commands.addCommand(COMMAND, {
      label: trans.__('Train'),
      caption: trans.__('Train this model and follow its progress'),
      icon: runIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            path: {
              type: 'string',
              description: 'The model file, by default the one in front'
            },
            dataset: {
              type: 'string',
              description:
                'A data file to choose, by its path from the model’s folder'
            }
          }
        }
      },
      isEnabled: args =>
        typeof args.path === 'string' || graphs.currentWidget !== null,
      execute: async args => {
        const current = graphs.currentWidget;
        const state = stateFrom(args, current?.context.path);
        if (!state) {
          return;
        }
        let panel = tracker.find(
          panel => panel.content.training.path === state.path
        );
        if (!panel) {
          panel = create(await memory.recall(state));
          const editor = graphs.find(
            widget => widget.context.path === state.path
          );
          // a hidden editor has no size, but the tab in front of it has one
          const front = editor?.isVisible ? editor : app.shell.currentWidget;
          app.shell.add(
            panel,
            'main',
            editor ? { mode: sideOf(front ?? editor), ref: editor.id } : {}
          );
          await tracker.add(panel);
          // the editor is smaller now: reset its view to a readable scale
          requestAnimationFrame(() => editor?.content.actions?.openView());
        }
        if (typeof args.dataset === 'string') {
          panel.content.training.choose(args.dataset);
        }
        app.shell.activateById(panel.id);
      }
    });
    graphs.currentChanged.connect(() =>
      app.commands.notifyCommandChanged(COMMAND)
    );
    palette?.addItem({ command: COMMAND, category: CATEGORY });

    if (restorer) {
      void restorer.restore(tracker, {
        command: COMMAND,
        args: panel => panel.content.training.toJSON(),
        name: panel => panel.content.training.path
      });
    }
  }
};

/** Position of the panel in the tab area of a widget: on its right if there is room for both, else below, else as a tab. */
function sideOf(widget: Widget): 'split-right' | 'split-bottom' | 'tab-after' {
  const { clientWidth, clientHeight } = widget.node;
  if (clientWidth >= ROOM_BESIDE) {
    return 'split-right';
  }
  return clientHeight >= ROOM_BELOW ? 'split-bottom' : 'tab-after';
}

/** Initial state of the panel: a new form, or the state before the page was reloaded. */
function stateFrom(
  args: ReadonlyPartialJSONObject,
  current: string | undefined
): TrainingState | null {
  const {
    path = current,
    run = null,
    code = null,
    settings = null,
    draft = null,
    kernels = {}
  } = args as Partial<TrainingState>;
  return path ? { path, run, code, settings, draft, kernels } : null;
}
