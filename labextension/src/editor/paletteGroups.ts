// The palette's contents: layers by category, filtered by what was typed.
import { LayerSchema } from './model';

export interface PaletteGroup {
  category: string;
  layers: LayerSchema[];
}

/** Groups of layers in which each word of the query occurs; empty groups are left out. */
export function paletteGroups(
  layers: Iterable<LayerSchema>,
  query: string
): PaletteGroup[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, LayerSchema[]>();
  for (const layer of layers) {
    const text =
      `${layer.type} ${layer.label} ${layer.category} ${layer.summary}`.toLowerCase();
    if (!layer.palette || !words.every(word => text.includes(word))) {
      continue;
    }
    const group = groups.get(layer.category);
    if (group) {
      group.push(layer);
    } else {
      groups.set(layer.category, [layer]);
    }
  }
  return [...groups].map(([category, group]) => ({
    category,
    layers: sortByMatch(group, words)
  }));
}

/** A layer whose name starts with the query comes before one that mentions it. */
function sortByMatch(layers: LayerSchema[], words: string[]): LayerSchema[] {
  const first = words[0];
  if (first === undefined) {
    return layers;
  }
  const rank = ({ type }: LayerSchema) => {
    const at = type.toLowerCase().indexOf(first);
    return at === 0 ? 0 : at > 0 ? 1 : 2;
  };
  return [...layers].sort((a, b) => rank(a) - rank(b));
}
