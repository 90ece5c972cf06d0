// Plugin: renders runs and graphs in the outputs of notebooks, independent of their kernels.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { GRAPH_OUTPUT, GraphOutput } from './graph-output';
import { OutputHost, RUN_OUTPUT, RUNS_OUTPUT, RunOutput } from './run-output';
import { ILabDL } from '../tokens';

/** Before ipywidgets (-10), whose renderer shows nothing without a kernel. */
const RANK = -100;

export const outputPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:output',
  description: 'Shows training runs and graphs in the outputs of notebooks.',
  autoStart: true,
  requires: [ILabDL, IRenderMimeRegistry, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    { api }: ILabDL,
    registry: IRenderMimeRegistry,
    translator: ITranslator
  ): void => {
    const host: OutputHost = {
      api,
      trans: translator.load('labdl'),
      open: (path, isFolder) =>
        void app.commands.execute(isFolder ? 'labdl:runs' : 'labdl:open-run', {
          path
        }),
      renderer: (mimeType, inside) => {
        const own = rendererOf(app, inside);
        const factory = own?.getFactory(mimeType);
        return own && factory
          ? { factory, create: () => own.createRenderer(mimeType) }
          : null;
      }
    };
    for (const mimeType of [RUN_OUTPUT, RUNS_OUTPUT]) {
      registry.addFactory(
        {
          safe: true,
          mimeTypes: [mimeType],
          createRenderer: options => new RunOutput(options, host)
        },
        RANK
      );
    }
    registry.addFactory(
      {
        safe: true,
        mimeTypes: [GRAPH_OUTPUT],
        createRenderer: () => new GraphOutput(host)
      },
      RANK
    );
  }
};

/** Renderers of the notebook or console around a widget, since widgets belong to its kernel. */
function rendererOf(
  app: JupyterFrontEnd,
  inside: Widget
): IRenderMimeRegistry | null {
  for (const widget of app.shell.widgets('main')) {
    if (widget.node.contains(inside.node)) {
      const content = (widget as { content?: unknown }).content ?? widget;
      return (
        (content as { rendermime?: IRenderMimeRegistry }).rendermime ?? null
      );
    }
  }
  return null;
}
