// The plain data the editor works on: the graph, the layers' schemas and the check's answer.

/** A JSON value, as parameters hold them. */
export type Json =
  null | boolean | number | string | Json[] | { [key: string]: Json };

export interface NodeData {
  type: string;
  /** Path of the node's parameters; unique in a graph, a Python identifier. */
  name: string;
  /** Only parameters that differ from the schema's default need be present. */
  params: { [key: string]: Json };
  /** Id of the node whose layer this one calls again, with its parameters. */
  shares?: string;
}

export interface EdgeData {
  source: string;
  source_port: string;
  target: string;
  target_port: string;
}

export type Position = [number, number];

/** What a person wrote on the canvas. */
export interface NoteData {
  text: string;
  /** Path of the block in which it stands; empty for the model itself. */
  home: string;
  /** Name of a hue, or empty. */
  color: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface GraphData {
  version: number;
  name: string;
  nodes: { [id: string]: NodeData };
  edges: { [id: string]: EdgeData };
  /** Lies beside the graph; may lack a node. */
  positions: { [id: string]: Position };
  /** Class of each module that the paths of names run through. */
  groups?: { [path: string]: string };
  /** Parameters that are one: from a name to the name whose place it takes. */
  ties?: { [name: string]: string };
  /** Missing where there are none. */
  notes?: { [id: string]: NoteData };
}

export interface InputPort {
  name: string;
  /** What it is called where its name would not be understood. */
  label?: string;
  /** Takes several edges, in edge order. */
  variadic: boolean;
  optional: boolean;
}

export interface OutputPort {
  name: string;
  label?: string;
}

/** The part of JSON Schema that parameters use. */
export interface ParamSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: Json;
  enum?: Json[];
  const?: Json;
  anyOf?: ParamSchema[];
  oneOf?: ParamSchema[];
  items?: ParamSchema;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  maxItems?: number;
  properties?: { [key: string]: ParamSchema };
  required?: string[];
}

export interface LayerSchema {
  type: string;
  label: string;
  category: string;
  summary: string;
  /** All of what is written about it; the summary is its first line. */
  description?: string;
  /** False for operators that only traced code brings: drawn, but not offered. */
  palette: boolean;
  inputs: InputPort[];
  outputs: OutputPort[];
  /** What a new node starts with: values for parameters that have no default. */
  initial?: { [key: string]: Json };
  schema: ParamSchema;
}

export type Shape = (number | null)[];

export interface TensorSpec {
  shape: Shape;
  dtype: string;
}

/** For one sample. */
export interface Costs {
  parameters: number;
  /** Floating-point operations. */
  operations: number;
  /** Bytes that training keeps. */
  memory: number;
}

export interface NodeCheck extends Costs {
  outputs: { [port: string]: TensorSpec };
  problem: string | null;
}

/** A change that mends a problem; it has been tried out on the shapes. */
export type Fix =
  | {
      kind: 'insert';
      edge: string;
      type: string;
      params: { [key: string]: Json };
    }
  | {
      kind: 'add';
      node: string;
      port: string;
      type: string;
      params: { [key: string]: Json };
    }
  | {
      kind: 'connect';
      node: string;
      port: string;
      source: string;
      source_port: string;
    }
  | { kind: 'disconnect'; edge: string }
  | { kind: 'set'; node: string; name: string; value: Json }
  | { kind: 'rename'; node: string; name: string };

export interface Problem {
  node: string | null;
  edge: string | null;
  message: string;
  fix: Fix | null;
}

export interface CheckResult extends Costs {
  nodes: { [id: string]: NodeCheck };
  problems: Problem[];
}

/** Layers by their type. */
export type LayerTable = ReadonlyMap<string, LayerSchema>;

export const EMPTY_GRAPH: GraphData = {
  version: 1,
  name: '',
  nodes: {},
  edges: {},
  positions: {}
};

/** Whether two JSON values say the same. */
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
