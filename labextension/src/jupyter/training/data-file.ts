// Asks for a data file or folder in JupyterLab's own dialog.

import { PathExt } from '@jupyterlab/coreutils';
import { FileDialog } from '@jupyterlab/filebrowser';
import { ITranslator } from '@jupyterlab/translation';

import type { Translator } from '../../editor';
import { opensAsData } from '../data/data-paths';

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
        'A table (.csv), arrays x and y (.npz), a data set with its transforms (.pipeline.json), or a file with samples for a task'
      ),
      filter: item => (opensAsData(item) ? {} : null)
    });
    // with nothing selected the dialog returns its folder
    const file = answer.value?.find(({ type }) => type !== 'directory');
    return answer.button.accept && file
      ? PathExt.relative(folder, file.path)
      : null;
  };
}

/** Dialog for the folder of a data set; resolves to its path from the document's folder with / at its end, or null. */
export function dataFolderPicker(
  manager: Manager,
  translator: ITranslator,
  trans: Translator
): (document: string) => Promise<string | null> {
  return async document => {
    const folder = PathExt.dirname(document);
    const answer = await FileDialog.getExistingDirectory({
      manager,
      translator,
      defaultPath: folder,
      title: trans.__('Train on a Folder'),
      label: trans.__('Samples for a task, such as one folder for each class')
    });
    const path = answer.button.accept && answer.value?.[0]?.path;
    return path ? `${PathExt.relative(folder, path) || '.'}/` : null;
  };
}
