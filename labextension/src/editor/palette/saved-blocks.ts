// Saved blocks, offered in the palette like layers.
import { fragmentFromText } from '../model/fragment';
import { LayerSchema, LayerTable } from '../model/graph-data';
import { Remembered } from './palette-storage';
import { blockId } from '../model/paths';
import { sceneOf } from '../canvas/scene';
import { Translator } from '../../ui/translator';

const PREFIX = 'block:';

export function savedBlockType(name: string): string {
  return PREFIX + name;
}

/** The name of the block for a type of the palette; undefined for a layer. */
export function savedBlockName(type: string): string | undefined {
  return type.startsWith(PREFIX) ? type.slice(PREFIX.length) : undefined;
}

/** The layers and the saved blocks. */
export function withSavedBlocks(
  layers: LayerTable,
  blocks: Remembered['blocks'],
  trans: Translator
): LayerTable {
  const names = Object.keys(blocks);
  if (names.length === 0 || layers.size === 0) {
    return layers;
  }
  const table = new Map<string, LayerSchema>();
  for (const name of names.sort()) {
    const schema = schemaOf(name, blocks[name], layers, trans);
    if (schema) {
      table.set(schema.type, schema);
    }
  }
  return new Map([...layers, ...table]);
}

/** Schema of a saved block: its ports are those of the folded block. */
function schemaOf(
  name: string,
  text: string,
  layers: LayerTable,
  trans: Translator
): LayerSchema | null {
  const fragment = fragmentFromText(text);
  const [path] = Object.keys(fragment?.groups ?? {});
  if (!fragment || path === undefined) {
    return null;
  }
  const graph = {
    version: 1,
    name,
    ...fragment,
    positions: { [blockId(path)]: [0, 0] as [number, number] }
  };
  const block = sceneOf(graph, layers, '').blocks.get(blockId(path));
  const count = Object.keys(fragment.nodes).length;
  return (
    (block && {
      type: savedBlockType(name),
      label: name,
      category: trans.__('Blocks'),
      summary: trans._n('%1 layer', '%1 layers', count),
      palette: true,
      ...block.ports,
      schema: {}
    }) ??
    null
  );
}
