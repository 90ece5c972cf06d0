// Plugin: opens a folder or a file as a data set, with its samples, statistics and transforms.

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
import { PathExt } from '@jupyterlab/coreutils';
import {
  FileDialog,
  IDefaultFileBrowser,
  IFileBrowserFactory
} from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { ITranslator } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { PipelineData, SavedPipeline } from '../../api/data';
import type { ChosenModel } from '../../data/host';
import { dataIcon } from '../icons';
import { CATEGORY, ILabDL } from '../tokens';
import { DataPanel } from './data-panel';
import { opensAsData } from './data-paths';
import { LabDataHost, type LabDataOptions } from './lab-data-host';

const COMMAND = 'labdl:open-data';
const TRAIN = 'labdl:train';
const GO_TO = 'filebrowser:go-to-path';

export const dataPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:data',
  description: 'Shows data sets, and edits the transforms before training.',
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
    { api, tracker: graphs }: ILabDL,
    translator: ITranslator,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    browser: IDefaultFileBrowser | null,
    browsers: IFileBrowserFactory | null
  ): void => {
    const trans = translator.load('labdl');
    const { commands, serviceManager, shell } = app;
    const tracker = new WidgetTracker<MainAreaWidget<DataPanel>>({
      namespace: 'labdl-data'
    });

    /** The item that is selected in the file browser. */
    const selected = () => {
      const items = browsers?.tracker.currentWidget?.selectedItems();
      const item = items?.next();
      return item && !item.done && items?.next().done ? item.value : null;
    };

    const ask = async (): Promise<string | null> => {
      if (!browser) {
        return null;
      }
      const answer = await FileDialog.getOpenFiles({
        manager: browser.model.manager,
        translator,
        defaultPath: browser.model.path,
        title: trans.__('Open as Data Set'),
        label: trans.__('A folder of samples, or a table or archive'),
        filter: item => (opensAsData(item) ? {} : null)
      });
      return answer.button.accept ? (answer.value?.[0]?.path ?? null) : null;
    };

    const train = async (saved: SavedPipeline): Promise<ChosenModel | null> => {
      const path = graphs.currentWidget?.context.path;
      if (!path) {
        return null;
      }
      const folder = PathExt.dirname(serviceManager.contents.localPath(path));
      const dataset = PathExt.relative(folder, saved.path);
      await commands.execute(TRAIN, { path, dataset });
      return { name: PathExt.basename(path) };
    };

    const showFile = async (file: string): Promise<void> => {
      try {
        // the command itself is silent about a file that is gone
        await serviceManager.contents.get(file, { content: false });
      } catch {
        throw new Error(trans.__('%1 is not there any more.', file));
      }
      await commands.execute(GO_TO, { path: file });
    };

    const create = (path: string, kept: Kept): MainAreaWidget<DataPanel> => {
      const host = new LabDataHost({
        path,
        api,
        train,
        ...kept,
        onChange: () => void tracker.save(panel),
        showFile
      });
      const panel = new MainAreaWidget({ content: new DataPanel(host, trans) });
      panel.toolbar.hide();
      return panel;
    };

    commands.addCommand(COMMAND, {
      label: args =>
        args.selected || args.isPalette
          ? trans.__('Open as Data Set')
          : trans.__('Data Set'),
      caption: trans.__(
        'Show the samples of a folder or a file, and the transforms before training'
      ),
      icon: args => (args.isPalette ? undefined : dataIcon),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            path: { type: 'string', description: 'The folder or the file' },
            selected: {
              type: 'boolean',
              description: 'Take what the file browser has selected'
            }
          }
        }
      },
      isVisible: args => {
        const item = args.selected ? selected() : null;
        return !args.selected || (item !== null && opensAsData(item));
      },
      execute: async args => {
        const given = args.selected
          ? (selected()?.path ?? null)
          : typeof args.path === 'string'
            ? args.path
            : await ask();
        if (given === null) {
          return;
        }
        const path = serviceManager.contents
          .localPath(given)
          .replace(/^\/+|\/+$/g, '');
        let panel = tracker.find(({ content }) => content.host.path === path);
        if (!panel) {
          panel = create(path, keptFrom(args));
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
      rank: 1.7
    });
    if (restorer) {
      void restorer.restore(tracker, {
        command: COMMAND,
        args: ({ content: { host } }) =>
          ({
            path: host.path,
            draft: host.draft(),
            split: host.keptSplit()
          }) as unknown as ReadonlyPartialJSONObject,
        name: ({ content }) => content.host.path || '/'
      });
    }
  }
};

/** What a panel had before the page was loaded again: steps that were not saved, and the part in view. */
type Kept = Pick<LabDataOptions, 'draft' | 'keptSplit'>;

function keptFrom(args: ReadonlyPartialJSONObject): Kept {
  const draft = args.draft as PipelineData | null | undefined;
  return {
    draft: draft && Array.isArray(draft.steps) ? draft : null,
    keptSplit: typeof args.split === 'string' ? args.split : ''
  };
}
