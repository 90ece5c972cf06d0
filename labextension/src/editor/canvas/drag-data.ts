// What a layer carries that is dragged from the palette onto the canvas.
import { fits } from '../model/insertion';
import { LayerSchema } from '../model/graph-data';

const LAYER_MIME = 'application/x-labdl-layer';
/** There if the layer fits into an edge: before the drop a page sees the kinds of data, not the data. */
const INNER_MIME = 'application/x-labdl-inner-layer';

export function setDraggedLayer(data: DataTransfer, layer: LayerSchema): void {
  data.setData(LAYER_MIME, layer.type);
  if (fits(layer, { edge: '' })) {
    data.setData(INNER_MIME, layer.type);
  }
  data.effectAllowed = 'copy';
}

export function isLayer(data: DataTransfer): boolean {
  return data.types.includes(LAYER_MIME);
}

export function isInnerLayer(data: DataTransfer): boolean {
  return data.types.includes(INNER_MIME);
}

/** Whether it may be Python: text, or files of this computer. */
export function isSource(data: DataTransfer): boolean {
  return data.types.includes('text/plain') || data.types.includes('Files');
}

/** So much of a file is read; no model is as long. */
const LARGEST = 1_000_000;

/** The Python that was dropped; null if there are only files of another kind. */
export async function readDroppedSource(
  data: DataTransfer
): Promise<string | null> {
  // the data are there during the drop only, the files also later
  const text = data.getData('text/plain');
  const files = [...data.files];
  if (files.length === 0) {
    return text;
  }
  const python = files.filter(
    ({ name, size }) => isPythonFile(name) && size <= LARGEST
  );
  return python.length
    ? (await Promise.all(python.map(file => file.text()))).join('\n\n')
    : null;
}

export function isPythonFile(name: string): boolean {
  return name.toLowerCase().endsWith('.py');
}

/** The type of the layer that was dropped; empty for anything else. */
export function readDroppedLayer(data: DataTransfer): string {
  return data.getData(LAYER_MIME);
}
