// Plugin: adds model classes from kernels, notebooks and files to the canvas.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { PathExt } from '@jupyterlab/coreutils';
import { ITranslator } from '@jupyterlab/translation';

import { acceptSources } from './class-drop';
import { askKernel } from './class-kernels';
import { ILabDL } from '../tokens';

export const classPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:classes',
  description:
    'Puts classes of kernels, notebooks and files into model graphs.',
  autoStart: true,
  requires: [ILabDL, ITranslator],
  activate: (
    { commands, serviceManager }: JupyterFrontEnd,
    { api, tracker }: ILabDL,
    translator: ITranslator
  ): void => {
    const trans = translator.load('labdl');
    api.classes = () => askKernel(serviceManager, trans);
    tracker.widgetAdded.connect((_sender, { content, context }) =>
      acceptSources(content.node, {
        contents: serviceManager.contents,
        actions: () => content.actions,
        folder: () => PathExt.dirname(context.path),
        convert: path => commands.execute('labdl:convert-onnx', { path }),
        mayEdit: () => !context.model.graph.lock.state(),
        trans
      })
    );
  }
};
