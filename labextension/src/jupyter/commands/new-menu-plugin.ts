// Plugin: "Model graph" in the New menu above the files of Jupyter Notebook.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IToolbarWidgetRegistry } from '@jupyterlab/apputils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { Menu, MenuBar } from '@lumino/widgets';

import { NEW } from './command-plugin';

/** The factory of file browsers and the item with the menu, as Jupyter Notebook names them. */
const FACTORY = 'FileBrowser';
const ITEM = 'new-dropdown';
/** The first of the commands after the kernels. */
const AFTER_KERNELS = 'terminal:create-new';

export const newMenuPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:new-menu',
  description: 'Model graphs in the New menu of Jupyter Notebook.',
  autoStart: true,
  optional: [IDefaultFileBrowser, IToolbarWidgetRegistry],
  activate: (
    app: JupyterFrontEnd,
    browser: IDefaultFileBrowser | null,
    registry: IToolbarWidgetRegistry | null
  ): void => {
    if (!browser || !registry) {
      return;
    }
    void app.restored.then(() => {
      const menu = newMenu(registry, browser);
      if (!menu) {
        return;
      }
      addCommand(menu);
      // Jupyter Notebook fills its menu again when kernels come or go, in a listener that may follow this one
      app.serviceManager.kernelspecs.specsChanged.connect(() =>
        queueMicrotask(() => addCommand(menu))
      );
    });
  }
};

/** The menu that all toolbars share; null in JupyterLab, which has none. */
function newMenu(
  registry: IToolbarWidgetRegistry,
  browser: IDefaultFileBrowser
): Menu | null {
  const item = registry.createWidget(FACTORY, browser, { name: ITEM });
  const menu = item instanceof MenuBar ? (item.menus[0] ?? null) : null;
  item.dispose(); // a bar does not dispose of its menus
  return menu;
}

function addCommand(menu: Menu): void {
  if (menu.items.some(({ command }) => command === NEW)) {
    return;
  }
  const index = menu.items.findIndex(
    ({ command }) => command === AFTER_KERNELS
  );
  menu.insertItem(index < 0 ? menu.items.length : index, { command: NEW });
}
