// Plugin: compares two models side by side.

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
  FileDialog,
  IDefaultFileBrowser,
  IFileBrowserFactory
} from '@jupyterlab/filebrowser';
import { ITranslator } from '@jupyterlab/translation';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { DiffPlace, sourceOf } from './diff-source';
import { DiffPanel, DiffPlaces } from './diff-widget';
import { CATEGORY, ILabDL } from '../tokens';

const COMPARE = 'labdl:compare';
const WITH = 'labdl:compare-with';
const SAVED = 'labdl:compare-saved';

export const diffPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:diff',
  description: 'Shows two models side by side, with what differs.',
  autoStart: true,
  requires: [ILabDL, ITranslator],
  optional: [
    ICommandPalette,
    IFileBrowserFactory,
    IDefaultFileBrowser,
    ILayoutRestorer
  ],
  activate: (
    app: JupyterFrontEnd,
    labdl: ILabDL,
    translator: ITranslator,
    palette: ICommandPalette | null,
    browsers: IFileBrowserFactory | null,
    browser: IDefaultFileBrowser | null,
    restorer: ILayoutRestorer | null
  ): void => {
    const trans = translator.load('labdl');
    const { commands, shell, serviceManager } = app;
    const { api, tracker: graphs } = labdl;
    const tracker = new WidgetTracker<MainAreaWidget<DiffPanel>>({
      namespace: 'labdl-diff'
    });

    const show = async (places: DiffPlaces): Promise<void> => {
      const key = JSON.stringify(places);
      let panel = tracker.find(
        ({ content }) => JSON.stringify(content.places) === key
      );
      if (!panel) {
        const source = (place: DiffPlace) =>
          sourceOf(place, labdl, serviceManager.contents, trans);
        const sources = { old: source(places.old), new: source(places.new) };
        panel = new MainAreaWidget({
          content: new DiffPanel(places, sources, api, trans)
        });
        panel.toolbar.hide();
        shell.add(panel, 'main');
        await tracker.add(panel);
      }
      shell.activateById(panel.id);
    };

    /** The two model files that are selected in the file browser, the older one first. */
    const selected = (): [string, string] | null => {
      const items = [
        ...(browsers?.tracker.currentWidget?.selectedItems() ?? [])
      ];
      if (
        items.length !== 2 ||
        items.some(({ path }) => !path.endsWith('.labdl'))
      ) {
        return null;
      }
      const time = ({ last_modified: at }: { last_modified: string }) =>
        new Date(at).getTime();
      const [before, after] = items.sort((a, b) => time(a) - time(b));
      return [before.path, after.path];
    };

    const path = (description: string) => ({ type: 'string', description });
    commands.addCommand(COMPARE, {
      label: trans.__('Compare Models'),
      caption: trans.__('Show two models side by side with their differences'),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            old: path('A model file; without it the two that are selected'),
            new: path('Another, which is shown as what became of it'),
            isSaved: {
              type: 'boolean',
              description: 'Take the first as it was saved, although it is open'
            }
          }
        }
      },
      isVisible: args => placesFrom(args) !== null || selected() !== null,
      execute: async args => {
        const chosen = selected();
        const places =
          placesFrom(args) ??
          (chosen && placesFrom({ old: chosen[0], new: chosen[1] }));
        if (places) {
          await show(places);
        }
      }
    });

    const isEditing = () => graphs.currentWidget !== null;
    commands.addCommand(WITH, {
      label: trans.__('Compare with…'),
      caption: trans.__('Compare this model with another'),
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled: () => isEditing() && browser !== null,
      execute: async () => {
        const context = graphs.currentWidget?.context;
        if (!context || !browser) {
          return;
        }
        const { value } = await FileDialog.getOpenFiles({
          manager: browser.model.manager,
          title: trans.__('Compare with'),
          label: trans.__('The model to compare with:'),
          filter: model =>
            model.type === 'directory' || model.path.endsWith('.labdl')
              ? {}
              : null,
          translator
        });
        const other = value?.find(({ type }) => type !== 'directory');
        if (other) {
          await show({
            old: { path: other.path, isSaved: other.path === context.path },
            new: { path: context.path, isSaved: false }
          });
        }
      }
    });
    commands.addCommand(SAVED, {
      label: trans.__('Compare with the Saved File'),
      caption: trans.__('Show the changes since the model was saved'),
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled: isEditing,
      execute: async () => {
        const path = graphs.currentWidget?.context.path;
        if (path !== undefined) {
          await show({
            old: { path, isSaved: true },
            new: { path, isSaved: false }
          });
        }
      }
    });
    graphs.currentChanged.connect(() =>
      [WITH, SAVED].forEach(id => commands.notifyCommandChanged(id))
    );
    [WITH, SAVED].forEach(command =>
      palette?.addItem({ command, category: CATEGORY })
    );

    if (restorer) {
      void restorer.restore(tracker, {
        command: COMPARE,
        args: ({ content: { places } }) => ({
          old: places.old.path,
          new: places.new.path,
          isSaved: places.old.isSaved
        }),
        name: ({ content }) => JSON.stringify(content.places)
      });
    }
  }
};

/** Models in the arguments of the command; null if they are missing. */
function placesFrom(args: ReadonlyPartialJSONObject): DiffPlaces | null {
  const { old: before, new: after, isSaved } = args;
  return typeof before === 'string' && typeof after === 'string'
    ? {
        old: { path: before, isSaved: isSaved === true },
        new: { path: after, isSaved: false }
      }
    : null;
}
