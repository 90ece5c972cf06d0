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

export { sameJson } from '../../forms/same-json';
