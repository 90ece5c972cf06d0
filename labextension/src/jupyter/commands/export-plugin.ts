// Plugin: exports the current model: pictures, ONNX, source of the frameworks, weights.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  ICommandPalette,
  Notification,
  showErrorMessage
} from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { ITranslator } from '@jupyterlab/translation';
import { downloadIcon } from '@jupyterlab/ui-components';
import { Menu } from '@lumino/widgets';

import type { ExportRequest } from '../../api/editor';
import type { Translator } from '../../editor';
import type { GraphWidget } from '../documents/document-widget';
import type { LabDLApi } from '../requests';
import { CATEGORY, ILabDL } from '../tokens';

/** Scale of a PNG, so that it is sharp in print. */
const SCALE = 2;
/** Longest side in pixels that every browser supports. */
const LARGEST = 8192;

export const exportPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:export',
  description: 'Exports model graphs.',
  autoStart: true,
  requires: [ILabDL, ITranslator],
  optional: [ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    { api, tracker }: ILabDL,
    translator: ITranslator,
    palette: ICommandPalette | null
  ): void => {
    const trans = translator.load('labdl');
    const kinds = exports(api, trans);
    const menu = new Menu({ commands: app.commands });
    menu.addClass('labdl-ExportMenu');
    for (const { id, label, caption, file } of kinds) {
      const command = `labdl:${id}`;
      app.commands.addCommand(command, {
        label,
        caption,
        describedBy: { args: { type: 'object', properties: {} } },
        isEnabled: () => tracker.currentWidget !== null,
        execute: async () => {
          const widget = tracker.currentWidget;
          if (!widget) {
            return;
          }
          try {
            widget.context.model.graph.applyTyped();
            const { content, name, newWeights } = await file(widget);
            download(content, name);
            if (newWeights) {
              Notification.warning(
                trans.__('%1 has new weights: %2', name, newWeights),
                { autoClose: 8000 }
              );
            }
          } catch (error) {
            const message = error instanceof Error ? error.message : `${error}`;
            await showErrorMessage(trans.__('Nothing Was Exported'), message);
          }
        }
      });
      palette?.addItem({ command, category: CATEGORY });
      menu.addItem({ command });
    }
    app.commands.addCommand('labdl:export', {
      label: trans.__('Export'),
      caption: trans.__('Export the model: ONNX, source, weights, picture'),
      icon: downloadIcon,
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled: () => tracker.currentWidget !== null,
      execute: () => {
        const node = tracker.currentWidget?.node;
        const button = node?.querySelector('[data-jp-item-name="export"]');
        const { left, bottom } = (button ?? node)?.getBoundingClientRect() ?? {
          left: 0,
          bottom: 0
        };
        menu.open(left, button ? bottom : bottom / 2);
      }
    });
    const ids = ['export', ...kinds.map(({ id }) => id)];
    tracker.currentChanged.connect(() =>
      ids.forEach(id => app.commands.notifyCommandChanged(`labdl:${id}`))
    );
  }
};

interface ExportedFile {
  content: Blob;
  name: string;
  /** Why the weights are not those of the model's file; empty if they are. */
  newWeights?: string;
}

interface Export {
  /** Name of the command. */
  id: string;
  label: string;
  caption: string;
  file(widget: GraphWidget): Promise<ExportedFile>;
}

function exports(api: LabDLApi, trans: Translator): Export[] {
  const picture = (
    suffix: string,
    label: string,
    caption: string,
    convert: (svg: string) => Promise<Blob>
  ): Export => ({
    id: `download-${suffix}`,
    label,
    caption,
    file: async ({ context }) => {
      const svg = await api.drawing(context.model.graph.snapshot());
      const stem = PathExt.basename(
        context.path,
        PathExt.extname(context.path)
      );
      return { content: await convert(svg), name: `${stem}.${suffix}` };
    }
  });
  const model = (
    format: ExportRequest['format'],
    label: string,
    caption: string
  ): Export => ({
    id: `export-${format}`,
    label,
    caption,
    file: ({ context }) => {
      const graph = context.model.graph.snapshot();
      return api.exportModel({ path: context.path, graph, format });
    }
  });
  const source = (format: ExportRequest['format'], framework: string) =>
    model(
      format,
      trans.__('Export %1 Source', framework),
      trans.__(
        'Download the model as source that needs only %1, with its weights',
        framework
      )
    );
  return [
    model(
      'onnx',
      trans.__('Export as ONNX'),
      trans.__('Download the model with its weights as an ONNX file')
    ),
    source('torch', 'PyTorch'),
    source('tensorflow', 'TensorFlow'),
    source('paddle', 'PaddlePaddle'),
    source('mindspore', 'MindSpore'),
    model(
      'weights',
      trans.__('Download the Weights'),
      trans.__('Download the parameters of the model (.npz)')
    ),
    picture(
      'svg',
      trans.__('Download as SVG'),
      trans.__('Download the graph as a vector image'),
      svg => Promise.resolve(new Blob([svg], { type: 'image/svg+xml' }))
    ),
    picture(
      'png',
      trans.__('Download as PNG'),
      trans.__('Download the graph as a bitmap image'),
      pixels
    )
  ];
}

/** Rasterizes the image. */
async function pixels(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const { width, height } = image;
  const scale = Math.min(SCALE, LARGEST / width, LARGEST / height);
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(width * scale);
  canvas.height = Math.ceil(height * scale);
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob(blob =>
      blob ? resolve(blob) : reject(new Error('The picture is too large.'))
    )
  );
}

function download(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // revoke only after the browser has read the content
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
