// Drop of notebook cells and files onto a canvas: Python classes become graphs, ONNX files documents of their own.

import { PathExt } from '@jupyterlab/coreutils';
import type { Contents } from '@jupyterlab/services';
import type { MimeData } from '@lumino/coreutils';

import type { EditorActions, Translator } from '../../editor';
import { isPythonFile } from '../../editor';

const CELLS = 'application/vnd.jupyter.cells';
const FILES = 'application/x-jupyter-icontents';
const TARGET = 'labdl-mod-target';
/** Maximum size of a file in bytes. */
const LARGEST = 1_000_000;
/** Maximum size in bytes of an ONNX file from outside of JupyterLab, which is sent in one message. */
const LARGEST_ONNX = 100_000_000;

/** Drag event of Lumino. */
interface LuminoDrag extends MouseEvent {
  readonly mimeData: MimeData;
  readonly proposedAction: string;
  dropAction: string;
}

export interface Dropping {
  contents: Contents.IManager;
  actions: () => EditorActions | null;
  /** Folder of the model, in which files from outside are stored. */
  folder: () => string;
  /** Converts an ONNX file to a model and opens it. */
  convert: (path: string) => Promise<unknown>;
  mayEdit: () => boolean;
  trans: Translator;
}

/** Accepts JupyterLab's own drags on the canvas in an element. */
export function acceptSources(element: HTMLElement, dropping: Dropping): void {
  const canvasAt = (event: Event) =>
    event.target instanceof Element
      ? event.target.closest('.labdl-canvas')
      : null;
  const mark = (canvas: Element | null) => {
    element
      .querySelectorAll(`.${TARGET}`)
      .forEach(other => other.classList.remove(TARGET));
    canvas?.classList.add(TARGET);
  };
  const listener = (given: Event) => {
    const event = given as LuminoDrag;
    const { mimeData } = event;
    const canvas = canvasAt(event);
    const isTaken =
      (mimeData.hasData(CELLS) || mimeData.hasData(FILES)) &&
      canvas !== null &&
      dropping.mayEdit();
    if (event.type === 'lm-dragleave' || !isTaken) {
      mark(null);
      return;
    }
    // a canceled event means that the drop is accepted, and elements around it do not handle it
    event.preventDefault();
    event.stopPropagation();
    event.dropAction = event.proposedAction;
    if (event.type === 'lm-drop') {
      mark(null);
      const point = { x: event.clientX, y: event.clientY };
      void drop(mimeData, point, dropping);
    } else {
      mark(canvas);
    }
  };
  for (const type of [
    'lm-dragenter',
    'lm-dragover',
    'lm-dragleave',
    'lm-drop'
  ]) {
    element.addEventListener(type, listener);
  }
  // before the canvas, which takes Python files
  element.addEventListener(
    'drop',
    event => {
      const files = [...(event.dataTransfer?.files ?? [])].filter(({ name }) =>
        isOnnxFile(name)
      );
      if (files.length && canvasAt(event)) {
        event.preventDefault();
        event.stopPropagation();
        void report(dropping, async () => {
          for (const file of files) {
            await dropping.convert(await upload(file, dropping));
          }
        });
      }
    },
    true
  );
}

function isOnnxFile(name: string): boolean {
  return name.toLowerCase().endsWith('.onnx');
}

/** Stores a file from outside beside the model; returns its path. */
async function upload(
  file: File,
  { contents, folder, trans }: Dropping
): Promise<string> {
  const path = PathExt.join(folder(), file.name);
  if (file.size > LARGEST_ONNX) {
    throw new Error(
      trans.__(
        '%1 is too large to be dropped here. Upload it with the file browser, then double-click it.',
        file.name
      )
    );
  }
  const isTaken = await contents.get(path, { content: false }).then(
    () => true,
    () => false
  );
  if (isTaken) {
    throw new Error(
      trans.__('%1 already exists. Double-click it to convert it.', path)
    );
  }
  const content = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^.*,/, ''));
    reader.onerror = () => reject(new Error(String(reader.error)));
    reader.readAsDataURL(file);
  });
  await contents.save(path, { type: 'file', format: 'base64', content });
  return path;
}

/** Says in the editor why something dropped cannot be read. */
async function report(
  { actions, trans }: Dropping,
  attempt: () => Promise<void>
): Promise<void> {
  try {
    await attempt();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    actions()?.say(trans.__('The dropped item cannot be read: %1', message));
  }
}

async function drop(
  data: MimeData,
  point: { x: number; y: number },
  dropping: Dropping
): Promise<void> {
  const { actions } = dropping;
  await report(dropping, async () => {
    const paths: unknown = data.hasData(FILES) ? data.getData(FILES) : [];
    const files = Array.isArray(paths) ? (paths as string[]) : [];
    const models = files.filter(isOnnxFile);
    for (const path of models) {
      await dropping.convert(path);
    }
    if (models.length) {
      return;
    }
    const source = data.hasData(CELLS)
      ? cellSource(data.getData(CELLS))
      : await fileSource(files, dropping);
    await actions()?.addSource(source, point);
    actions()?.focus();
  });
}

/** Code of notebook cells. */
function cellSource(cells: unknown): string {
  const texts = (Array.isArray(cells) ? cells : []).map(
    (cell: { cell_type?: string; source?: string | string[] }) => {
      const source = cell.source ?? '';
      const text = Array.isArray(source) ? source.join('') : source;
      return cell.cell_type === 'code' ? text : '';
    }
  );
  return texts.filter(Boolean).join('\n\n');
}

async function fileSource(
  paths: readonly string[],
  { contents, trans }: Dropping
): Promise<string> {
  const texts: string[] = [];
  for (const path of paths) {
    const name = PathExt.basename(path);
    if (!isPythonFile(name)) {
      throw new Error(trans.__('%1 is not a Python file (.py).', name));
    }
    const { size } = await contents.get(path, { content: false });
    if ((size ?? 0) > LARGEST) {
      throw new Error(trans.__('%1 is too large.', name));
    }
    const file = await contents.get(path, {
      type: 'file',
      format: 'text',
      content: true
    });
    texts.push(String(file.content));
  }
  return texts.join('\n\n');
}
