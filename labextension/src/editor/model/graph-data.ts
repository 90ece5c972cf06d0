// Plain data of the editor: graph, schemas of layers, result of the check.

import type { GraphData, LayerSchema } from '../../api/graph';

export type {
  CheckResult,
  Costs,
  Fix,
  NodeCheck,
  Problem,
  TensorSpec
} from '../../api/check';
export type {
  EdgeData,
  GraphData,
  InputPort,
  Json,
  LayerSchema,
  NodeData,
  NoteData,
  OutputPort,
  ParamSchema,
  Position,
  Shape
} from '../../api/graph';

/** Schemas of layers by type. */
export type LayerTable = ReadonlyMap<string, LayerSchema>;

export const EMPTY_GRAPH: GraphData = {
  version: 1,
  name: '',
  nodes: {},
  edges: {},
  positions: {}
};

/** Whether two JSON values are equal. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) {
    return true;
  }
  if (
    typeof a !== 'object' ||
    typeof b !== 'object' ||
    a === null ||
    b === null
  ) {
    return false;
  }
  if (Array.isArray(a) !== Array.isArray(b)) {
    return false;
  }
  const left = Object.entries(a);
  const right = b as { [key: string]: unknown };
  return (
    left.length === Object.keys(right).length &&
    left.every(([key, value]) => key in right && sameJson(value, right[key]))
  );
}
