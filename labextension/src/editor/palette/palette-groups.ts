// The palette's contents: layers by category, filtered by what was typed.
import { LayerSchema, LayerTable } from '../model/graph-data';

export interface PaletteGroup {
  category: string;
  layers: LayerSchema[];
}

/** The layers in which each word of the query occurs, the best match first. */
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

/** Groups of layers that match; a group comes as early as its best match. */
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

/** The layers with these types that can be chosen now. */
export function chosenLayers(
  types: readonly string[],
  layers: LayerTable
): LayerSchema[] {
  return types.flatMap(type => {
    const layer = layers.get(type);
    return layer?.palette ? [layer] : [];
  });
}

/** A layer whose name is or starts with the query comes before one that mentions it. */
function sortByMatch(layers: LayerSchema[], word: string): LayerSchema[] {
  const rank = ({ type }: LayerSchema) => {
    const name = type.toLowerCase();
    const at = name.indexOf(word);
    return name === word ? 0 : at === 0 ? 1 : at > 0 ? 2 : 3;
  };
  return [...layers].sort((a, b) => rank(a) - rank(b));
}
