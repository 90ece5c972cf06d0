// Tests of the commands that select layers.
import { sceneOf } from '../../canvas/scene';
import { GraphData } from '../../model/graph-data';
import { Surroundings } from '../actions';
import { SELECTION_COMMANDS } from '../selection-commands';

const node = (name: string) => ({ type: 'Linear', name, params: {} });
const edge = (source: string, target: string) => ({
  source,
  source_port: 'output',
  target,
  target_port: 'x'
});

/** a → b → c → d, b → e; b and c are in a block, f is alone. */
const GRAPH: GraphData = {
  version: 2,
  name: '',
  nodes: {
    a: node('a'),
    b: node('mid/b'),
    c: node('mid/c'),
    d: node('d'),
    e: node('e'),
    f: node('f')
  },
  edges: {
    ab: edge('a', 'b'),
    bc: edge('b', 'c'),
    cd: edge('c', 'd'),
    be: edge('b', 'e')
  },
  positions: {}
};

function selectDownstream(
  nodes: string[],
  graph = GRAPH,
  within = '',
  edges: string[] = []
) {
  const command = SELECTION_COMMANDS.find(
    ({ id }) => id === 'select-downstream'
  );
  const selected = command?.select({
    document: { snapshot: () => graph },
    scene: sceneOf(graph, new Map(), within),
    selection: {
      state: () => ({ nodes: new Set(nodes), edges: new Set(edges) })
    }
  } as unknown as Surroundings);
  return {
    nodes: [...(selected?.nodes ?? [])].sort(),
    edges: [...(selected?.edges ?? [])]
  };
}

describe('Select Downstream Layers', () => {
  it('keeps the selection and adds what depends on it', () => {
    expect(selectDownstream(['a']).nodes).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(selectDownstream(['c', 'f']).nodes).toEqual(['c', 'd', 'f']);
    expect(selectDownstream(['d']).nodes).toEqual(['d']);
  });

  it('changes nothing without a selected layer', () => {
    expect(selectDownstream([], GRAPH, '', ['ab'])).toEqual({
      nodes: [],
      edges: ['ab']
    });
  });

  it('ends in a graph with a cycle', () => {
    const edges = { ...GRAPH.edges, da: edge('d', 'a') };
    expect(selectDownstream(['c'], { ...GRAPH, edges }).nodes).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e'
    ]);
  });

  it('selects a collapsed block as one node', () => {
    const positions: GraphData['positions'] = { 'mid/': [0, 0] };
    const folded = { ...GRAPH, positions };
    expect(selectDownstream(['a'], folded).nodes).toEqual([
      'a',
      'd',
      'e',
      'mid/'
    ]);
    expect(selectDownstream(['mid/'], folded).nodes).toEqual([
      'd',
      'e',
      'mid/'
    ]);
  });
});
