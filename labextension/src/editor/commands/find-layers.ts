// Search in a graph: by name, type, setting, shape and problem.
import { LayerTable, GraphData, NodeCheck } from '../model/graph-data';
import { settingsText, shapeText } from '../model/shape-format';
import { Translator } from '../../ui/translator';

/** "64 x 8, 8" and "64 × 8 × 8" are the same shape, and the batch is unknown too. */
const BETWEEN_SIZES = /(?<=[\d?])\s*[×x*,]\s*(?=[\d?])/g;
const BATCH = /\bn(?=\s*[×x*,])/g;

/** Ids of the nodes whose text contains each word of the query, in the order of the graph. */
export function findLayers(
  query: string,
  graph: GraphData,
  layers: LayerTable,
  checkOf: (id: string) => NodeCheck | undefined,
  trans: Translator
): string[] {
  const words = comparable(query).split(/\s+/).filter(Boolean);
  if (!words.length) {
    return [];
  }
  return Object.entries(graph.nodes)
    .filter(([id, { name, type, params, shares }]) => {
      const own = shares ? graph.nodes[shares]?.params : params;
      const { outputs = {}, problem } = checkOf(id) ?? {};
      const text = comparable(
        [
          name,
          type,
          layers.get(type)?.label,
          layers.get(type)?.category,
          settingsText(own ?? {}),
          ...Object.values(outputs).map(({ shape }) => shapeText(shape, '')),
          problem && `${trans.__('Problem')} ${problem}`
        ].join(' ')
      );
      return words.every(word => text.includes(word));
    })
    .map(([id]) => id);
}

function comparable(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(BATCH, '?')
    .replace(BETWEEN_SIZES, '×');
}
