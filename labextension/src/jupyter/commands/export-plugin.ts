// Plugin: exports the current graph as an SVG or PNG image.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, showErrorMessage } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { ITranslator } from '@jupyterlab/translation';

import { ILabDL } from '../tokens';

/** Scale of a PNG, so that it is sharp in print. */
const SCALE = 2;
/** Longest side in pixels that every browser supports. */
const LARGEST = 8192;

export const exportPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:export',
  description: 'Saves model graphs as pictures.',
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
    const kinds: [string, string, string, (svg: string) => Promise<Blob>][] = [
      [
        'svg',
        trans.__('Download as SVG'),
        trans.__('Download the graph as a vector image'),
        svg => Promise.resolve(new Blob([svg], { type: 'image/svg+xml' }))
      ],
      [
        'png',
        trans.__('Download as PNG'),
        trans.__('Download the graph as a bitmap image'),
        pixels
      ]
    ];
    for (const [suffix, label, caption, made] of kinds) {
      const command = `labdl:download-${suffix}`;
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
          const { model, path } = widget.context;
          try {
            const svg = await api.drawing(model.graph.snapshot());
            const stem = PathExt.basename(path, PathExt.extname(path));
            download(await made(svg), `${stem}.${suffix}`);
          } catch (error) {
            const message = error instanceof Error ? error.message : `${error}`;
            await showErrorMessage(trans.__('No Image'), message);
          }
        }
      });
      palette?.addItem({ command, category: trans.__('Model graph') });
      tracker.currentChanged.connect(() =>
        app.commands.notifyCommandChanged(command)
      );
    }
  }
};

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
