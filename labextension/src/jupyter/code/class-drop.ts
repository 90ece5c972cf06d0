// Drop of notebook cells and files onto a canvas: their Python classes become graphs.

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

/** Drag event of Lumino. */
interface LuminoDrag extends MouseEvent {
  readonly mimeData: MimeData;
  readonly proposedAction: string;
  dropAction: string;
}

export interface Dropping {
  contents: Contents.IManager;
  actions: () => EditorActions | null;
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
}

async function drop(
  data: MimeData,
  point: { x: number; y: number },
  dropping: Dropping
): Promise<void> {
  const { actions, trans } = dropping;
  try {
    const source = data.hasData(CELLS)
      ? cellSource(data.getData(CELLS))
      : await fileSource(data.getData(FILES), dropping);
    await actions()?.addSource(source, point);
    actions()?.focus();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    actions()?.say(trans.__('The dropped item cannot be read: %1', message));
  }
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
  paths: unknown,
  { contents, trans }: Dropping
): Promise<string> {
  const texts: string[] = [];
  for (const path of Array.isArray(paths) ? (paths as string[]) : []) {
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
