// Plugin: converts an ONNX file in the file browser to a model graph.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Dialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { IDefaultDrive } from '@jupyterlab/services';
import type { Contents } from '@jupyterlab/services';
import { ITranslator } from '@jupyterlab/translation';

import { graphIcon } from '../icons';
import {
  ONNX_PROVIDER,
  OnnxContentProvider,
  OnnxWidgetFactory
} from './onnx-document';
import { FACTORY, ILabDL } from '../tokens';

const COMMAND = 'labdl:convert-onnx';

export const onnxPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:onnx',
  description: 'Converts ONNX files to model graphs.',
  autoStart: true,
  requires: [ILabDL, IDefaultDrive, ITranslator],
  optional: [IFileBrowserFactory],
  activate: (
    app: JupyterFrontEnd,
    { api }: ILabDL,
    drive: Contents.IDrive,
    translator: ITranslator,
    browsers: IFileBrowserFactory | null
  ): void => {
    const trans = translator.load('labdl');
    const { commands, docRegistry, serviceManager } = app;
    docRegistry.addFileType({
      name: 'onnx',
      displayName: trans.__('ONNX model'),
      extensions: ['.onnx'],
      mimeTypes: ['application/octet-stream'],
      contentType: 'file',
      fileFormat: 'base64',
      icon: graphIcon
    });

    drive.contentProviderRegistry?.register(
      ONNX_PROVIDER,
      new OnnxContentProvider(serviceManager.contents)
    );
    docRegistry.addWidgetFactory(
      new OnnxWidgetFactory(
        {
          name: 'ONNX model',
          label: trans.__('Convert to Model Graph'),
          modelName: 'base64',
          fileTypes: ['onnx'],
          defaultFor: ['onnx'],
          readOnly: true,
          contentProviderId: ONNX_PROVIDER,
          translator
        },
        trans.__('The file is being converted to a model graph…'),
        path => commands.execute(COMMAND, { path })
      )
    );

    const selected = (): string | null => {
      const item = browsers?.tracker.currentWidget?.selectedItems().next();
      return item && !item.done && item.value.path.endsWith('.onnx')
        ? item.value.path
        : null;
    };

    /** Asks whether existing files are replaced. */
    const askAbout = async (
      taken: string[]
    ): Promise<'replace' | 'open' | null> => {
      const names = taken.map(path => PathExt.basename(path)).join(', ');
      const answer = await showDialog({
        title: trans.__('Replace Files?'),
        body: trans.__('These files already exist: %1', names),
        buttons: [
          Dialog.cancelButton({ label: trans.__('Cancel') }),
          ...(taken[0].endsWith('.labdl')
            ? [
                Dialog.okButton({
                  label: trans.__('Open %1', PathExt.basename(taken[0])),
                  actions: ['open']
                })
              ]
            : []),
          Dialog.warnButton({
            label: trans.__('Replace'),
            actions: ['replace']
          })
        ],
        defaultButton: 1
      });
      const [action = null] = answer.button.actions;
      return action as 'replace' | 'open' | null;
    };

    commands.addCommand(COMMAND, {
      label: trans.__('Convert to Model Graph'),
      caption: trans.__('Convert an ONNX file to a model graph with weights'),
      icon: graphIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            path: {
              type: 'string',
              description:
                'The ONNX file, if not the one that is selected in the file browser'
            }
          }
        }
      },
      isEnabled: args => typeof args.path === 'string' || selected() !== null,
      execute: async args => {
        const path = typeof args.path === 'string' ? args.path : selected();
        if (!path) {
          return;
        }
        try {
          const { contents } = serviceManager;
          const local = contents.localPath(path);
          let made = await api.convert(local, false);
          if (!made.path) {
            const wanted = await askAbout(made.taken);
            if (wanted === null) {
              return;
            }
            made =
              wanted === 'open'
                ? { path: made.taken[0], taken: [] }
                : await api.convert(local, true);
          }
          await commands.execute('docmanager:open', {
            path: made.path,
            factory: FACTORY
          });
        } catch (error) {
          const message = error instanceof Error ? error.message : `${error}`;
          await showErrorMessage(
            trans.__('The file was not converted'),
            message
          );
        }
      }
    });
  }
};
