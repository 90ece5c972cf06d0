// Connects each selected layer with the next one.
import { portsOf, refusal, edgesReplacedBy } from '../model/connect';
import { EdgeData, GraphData, LayerTable } from '../model/graph-data';
import { Translator } from '../../ui/translator';

export interface Links {
  edges: EdgeData[];
  replaced: string[];
}

/** Edges from each node to the next, into a free input if there is one; or the reason why not. */
export function linksBetween(
  ids: string[],
  graph: GraphData,
  layers: LayerTable,
  trans: Translator
): Links | string {
  const edges: EdgeData[] = [];
  const replaced: string[] = [];
  let current = graph;
  for (let at = 1; at < ids.length; at++) {
    const [source, target] = [ids[at - 1], ids[at]];
    const areLinked = Object.values(current.edges).some(
      edge => edge.source === source && edge.target === target
    );
    if (areLinked && ids.length > 2) {
      continue; // in a longer selection, existing connections stay
    }
    const ports = (id: string) =>
      portsOf(id, layers.get(current.nodes[id].type), current);
    const [output] = ports(source).outputs;
    const { inputs } = ports(target);
    const taken = new Set(
      Object.values(current.edges)
        .filter(edge => edge.target === target)
        .map(edge => edge.target_port)
    );
    const input =
      inputs.find(port => port.variadic || !taken.has(port.name)) ?? inputs[0];
    if (!output || !input) {
      return output
        ? trans.__('%1 has no input.', current.nodes[target].name)
        : trans.__('%1 has no output.', current.nodes[source].name);
    }
    const edge = {
      source,
      source_port: output.name,
      target,
      target_port: input.name
    };
    const reason = refusal(edge, current, layers, trans);
    if (reason !== null) {
      return reason;
    }
    edges.push(edge);
    replaced.push(...edgesReplacedBy(edge, current, layers));
    current = { ...current, edges: { ...current.edges, [`new ${at}`]: edge } };
  }
  return { edges, replaced };
}
