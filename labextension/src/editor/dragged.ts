// What a layer carries that is dragged from the palette onto the canvas.
import { fits } from './insertion';
import { LayerSchema } from './model';

const LAYER_MIME = 'application/x-labdl-layer';
/** There if the layer fits into an edge: before the drop a page sees the kinds of data, not the data. */
const INNER_MIME = 'application/x-labdl-inner-layer';

export function carryLayer(data: DataTransfer, layer: LayerSchema): void {
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

/** The type of the layer that was dropped; empty for anything else. */
export function droppedLayer(data: DataTransfer): string {
  return data.getData(LAYER_MIME);
}
