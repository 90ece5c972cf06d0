// Contents of the palette: layers by category, filtered by the search.
import { LayerSchema, LayerTable } from '../model/graph-data';

export interface PaletteGroup {
  category: string;
  layers: LayerSchema[];
}

/** The layers that contain every word of the query, the best match first. */
export function matching(
  layers: Iterable<LayerSchema>,
  query: string
): LayerSchema[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [...layers].filter(layer => {
    const text =
      `${layer.type} ${layer.label} ${layer.category} ${layer.summary}`.toLowerCase();
    return layer.palette && words.every(word => text.includes(word));
  });
  return words.length ? sortByMatch(found, words[0]) : found;
}

/** Groups of matching layers, in the order of their best match. */
export function paletteGroups(
  layers: Iterable<LayerSchema>,
  query: string
): PaletteGroup[] {
  const groups = new Map<string, LayerSchema[]>();
  for (const layer of matching(layers, query)) {
    const group = groups.get(layer.category);
    if (group) {
      group.push(layer);
    } else {
      groups.set(layer.category, [layer]);
    }
  }
  return [...groups].map(([category, group]) => ({ category, layers: group }));
}

/** The available layers with these types. */
export function chosenLayers(
  types: readonly string[],
  layers: LayerTable
): LayerSchema[] {
  return types.flatMap(type => {
    const layer = layers.get(type);
    return layer?.palette ? [layer] : [];
  });
}

/** Layers whose name equals or starts with the query come before those that only contain it. */
function sortByMatch(layers: LayerSchema[], word: string): LayerSchema[] {
  const rank = ({ type }: LayerSchema) => {
    const name = type.toLowerCase();
    const at = name.indexOf(word);
    return name === word ? 0 : at === 0 ? 1 : at > 0 ? 2 : 3;
  };
  return [...layers].sort((a, b) => rank(a) - rank(b));
}
