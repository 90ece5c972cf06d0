// Drag data of layers and Python source that are dropped onto the canvas.
import { fits } from '../model/insertion';
import { LayerSchema } from '../model/graph-data';

const LAYER_MIME = 'application/x-labdl-layer';
/** Set if the layer fits into an edge: during a drag only the types of the data are readable. */
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

/** Whether the data may be Python: text or files. */
export function isSource(data: DataTransfer): boolean {
  return data.types.includes('text/plain') || data.types.includes('Files');
}

/** Maximum size of a dropped file in bytes. */
const LARGEST = 1_000_000;

/** The dropped Python source; null if there are only other files. */
export async function readDroppedSource(
  data: DataTransfer
): Promise<string | null> {
  // the text is readable only during the event, files also later
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

/** Type of the dropped layer; empty if the data is not a layer. */
export function readDroppedLayer(data: DataTransfer): string {
  return data.getData(LAYER_MIME);
}
