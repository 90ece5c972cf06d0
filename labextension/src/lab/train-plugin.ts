// Plugin: the panel that trains a model, beside the model's editor.

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
import { ITranslator } from '@jupyterlab/translation';
import { runIcon } from '@jupyterlab/ui-components';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';

import { ILabDL } from './tokens';
import { TrainPanel } from './train';
import { Training, TrainingState } from './training';

const COMMAND = 'labdl:train';
const ROOM_FOR_BOTH = 1300;

export const trainPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:train',
  description: 'Trains the model of a graph in a kernel and shows the run.',
  autoStart: true,
  requires: [ILabDL, ITranslator],
  optional: [ILayoutRestorer, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    { api, tracker: graphs }: ILabDL,
    translator: ITranslator,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null
  ): void => {
    const trans = translator.load('labdl');
    const tracker = new WidgetTracker<MainAreaWidget<TrainPanel>>({
      namespace: 'labdl-train'
    });

    const save = async (path: string): Promise<void> => {
      const widget = graphs.find(widget => widget.context.path === path);
      if (widget?.context.model.dirty) {
        await widget.context.save();
      }
    };

    const create = (state: TrainingState): MainAreaWidget<TrainPanel> => {
      const training = new Training({
        state,
        api,
        services: app.serviceManager,
        save,
        trans
      });
      const panel = new MainAreaWidget({
        content: new TrainPanel(training, trans)
      });
      panel.toolbar.hide();
      training.stateChanged.connect(() => void tracker.save(panel));
      return panel;
    };

    app.commands.addCommand(COMMAND, {
      label: trans.__('Train'),
      caption: trans.__('Train this model and watch it learn'),
      icon: runIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            path: {
              type: 'string',
              description: 'The model file, by default the one in front'
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
          panel = create(state);
          const editor = graphs.find(
            widget => widget.context.path === state.path
          );
          app.shell.add(
            panel,
            'main',
            editor ? { mode: sideOf(editor), ref: editor.id } : {}
          );
          await tracker.add(panel);
          // the editor has less room now: show what can be read in it
          requestAnimationFrame(() => editor?.content.actions?.openView());
        }
        app.shell.activateById(panel.id);
      }
    });
    graphs.currentChanged.connect(() =>
      app.commands.notifyCommandChanged(COMMAND)
    );
    palette?.addItem({ command: COMMAND, category: trans.__('Model graph') });

    if (restorer) {
      void restorer.restore(tracker, {
        command: COMMAND,
        args: panel => panel.content.training.toJSON(),
        name: panel => panel.content.training.path
      });
    }
  }
};

/** Beside the editor where there is room for both, under it on a small screen. */
function sideOf(editor: Widget): 'split-right' | 'split-bottom' {
  return editor.node.clientWidth >= ROOM_FOR_BOTH
    ? 'split-right'
    : 'split-bottom';
}

/** What the panel shows at first: a fresh form, or what it showed before the page was refreshed. */
function stateFrom(
  args: ReadonlyPartialJSONObject,
  current: string | undefined
): TrainingState | null {
  const {
    path = current,
    run = null,
    code = null,
    settings = null
  } = args as Partial<TrainingState>;
  return path ? { path, run, code, settings } : null;
}
