// Asks for a data file in JupyterLab's own dialog.

import { PathExt } from '@jupyterlab/coreutils';
import { FileDialog } from '@jupyterlab/filebrowser';
import { ITranslator } from '@jupyterlab/translation';

import type { Translator } from '../../editor';
import { isDataFile } from './training-settings';

type Manager = FileDialog.IFileOptions['manager'];

/** Dialog for a data file of a document's training; resolves to its path from the document's folder, or null. */
export function dataFilePicker(
  manager: Manager,
  translator: ITranslator,
  trans: Translator
): (document: string) => Promise<string | null> {
  return async document => {
    const folder = PathExt.dirname(document);
    const answer = await FileDialog.getOpenFiles({
      manager,
      translator,
      defaultPath: folder,
      title: trans.__('Train on a File'),
      label: trans.__(
        'A table (.csv), arrays x and y (.npz), or a data set with its transforms (.pipeline.json)'
      ),
      filter: ({ type, name }) =>
        type === 'directory' || isDataFile(name) ? {} : null
    });
    // with nothing selected the dialog returns its folder
    const file = answer.value?.find(({ name }) => isDataFile(name));
    return answer.button.accept && file
      ? PathExt.relative(folder, file.path)
      : null;
  };
}
