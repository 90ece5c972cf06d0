// Internals of the selected layer: its parameters, and its activations for one sample.
import { useSyncExternalStore } from 'react';

import { ActivationDetails } from '../samples/ActivationDetails';
import { useEditorContext } from '../context';
import { GraphData } from '../model/graph-data';
import { Weights } from './Weights';

export interface LayerInternalsProps {
  id: string;
  /** Id of the node that owns the parameters; by default the layer itself. */
  owner: string;
  graph: GraphData;
}

export function LayerInternals({ id, owner, graph }: LayerInternalsProps) {
  const { checks, host } = useEditorContext();
  const check = useSyncExternalStore(checks.subscribe, () =>
    checks.node(owner)
  );
  const { name } = graph.nodes[owner];
  // A tied parameter is saved under the name of the other one.
  const tied = Object.entries(graph.ties ?? {})
    .filter(([own]) => own.startsWith(`${name}/`))
    .map(([, other]) => other);
  return (
    <>
      <ActivationDetails id={id} />
      {host.weights && check !== undefined && check.parameters > 0 && (
        <Weights key={name} name={name} tied={tied} graph={graph} />
      )}
    </>
  );
}
