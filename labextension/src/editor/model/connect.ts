// Valid connections of a graph, and the edges they replace.
import {
  EdgeData,
  GraphData,
  InputPort,
  LayerSchema,
  LayerTable,
  OutputPort
} from './graph-data';
import { Translator } from '../../ui/translator';

export interface Ports {
  inputs: InputPort[];
  outputs: OutputPort[];
}

/** The ports of a node; for an unknown layer, those that its edges use. */
export function portsOf(
  id: string,
  schema: LayerSchema | undefined,
  graph: GraphData
): Ports {
  if (schema) {
    return schema;
  }
  const inputs = new Set<string>();
  const outputs = new Set<string>();
  for (const edge of Object.values(graph.edges)) {
    if (edge.target === id) {
      inputs.add(edge.target_port);
    }
    if (edge.source === id) {
      outputs.add(edge.source_port);
    }
  }
  return {
    inputs: [...inputs].map(name => ({
      name,
      variadic: true,
      optional: false
    })),
    outputs: [...outputs].map(name => ({ name }))
  };
}

function inputPort(
  edge: EdgeData,
  graph: GraphData,
  layers: LayerTable
): InputPort | undefined {
  const schema = layers.get(graph.nodes[edge.target]?.type);
  return portsOf(edge.target, schema, graph).inputs.find(
    port => port.name === edge.target_port
  );
}

/** Ids of the edges that a new edge replaces: a port that is not variadic accepts one. */
export function edgesReplacedBy(
  edge: EdgeData,
  graph: GraphData,
  layers: LayerTable
): string[] {
  if (inputPort(edge, graph, layers)?.variadic !== false) {
    return [];
  }
  return Object.keys(graph.edges).filter(id => {
    const other = graph.edges[id];
    return (
      other.target === edge.target && other.target_port === edge.target_port
    );
  });
}

/** The reason why a connection is invalid, or null if it is valid. */
export function refusal(
  edge: EdgeData,
  graph: GraphData,
  layers: LayerTable,
  trans: Translator
): string | null {
  if (!graph.nodes[edge.source] || !graph.nodes[edge.target]) {
    return trans.__('One end of the connection is no longer in the model.');
  }
  if (edge.source === edge.target) {
    return trans.__('A layer cannot be connected to itself.');
  }
  const same = Object.values(graph.edges).some(
    other =>
      other.source === edge.source &&
      other.source_port === edge.source_port &&
      other.target === edge.target &&
      other.target_port === edge.target_port
  );
  if (same) {
    return trans.__('These layers are already connected.');
  }
  const schema = layers.get(graph.nodes[edge.target].type);
  if (schema && !inputPort(edge, graph, layers)) {
    return trans.__(
      '%1 has no input named %2.',
      schema.label,
      edge.target_port
    );
  }
  if (reaches(edge.target, edge.source, graph)) {
    return trans.__(
      'This would create a cycle: %1 already leads to %2.',
      graph.nodes[edge.target].name,
      graph.nodes[edge.source].name
    );
  }
  return null;
}

/** Whether data flows from one node to another. */
export function reaches(from: string, to: string, graph: GraphData): boolean {
  return reachable(from, graph).has(to);
}

/** A node and all nodes that its output reaches. */
export function reachable(from: string, graph: GraphData): Set<string> {
  const next = new Map<string, string[]>();
  for (const edge of Object.values(graph.edges)) {
    const targets = next.get(edge.source);
    if (targets) {
      targets.push(edge.target);
    } else {
      next.set(edge.source, [edge.target]);
    }
  }
  const seen = new Set([from]);
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const target of next.get(id) ?? []) {
      if (!seen.has(target)) {
        seen.add(target);
        open.push(target);
      }
    }
  }
  return seen;
}

/**
 * The edges that connect the selected nodes to a layer about to be added:
 * one per free port in order, any number for a variadic one.
 */
export function edgesInto(
  schema: LayerSchema,
  selected: string[],
  graph: GraphData,
  layers: LayerTable
): { source: string; source_port: string; target_port: string }[] {
  const free = [...schema.inputs];
  const edges = [];
  for (const source of selected) {
    const node = graph.nodes[source];
    const output =
      node && portsOf(source, layers.get(node.type), graph).outputs[0];
    const port = free[0];
    if (!output || !port) {
      continue;
    }
    if (!port.variadic) {
      free.shift();
    }
    edges.push({
      source,
      source_port: output.name,
      target_port: port.name
    });
  }
  return edges;
}
