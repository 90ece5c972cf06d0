// Tests of connections: accepted, refused, and the edges they replace.
import { edgesInto, portsOf, refusal, edgesReplacedBy } from '../connect';
import { GraphData, LayerSchema } from '../graph-data';
import { plainTranslator } from '../../../ui/translator';

function layer(
  type: string,
  inputs: string[],
  variadic = false,
  outputs = ['out']
): [string, LayerSchema] {
  return [
    type,
    {
      type,
      label: type,
      category: 'any',
      summary: '',
      palette: true,
      inputs: inputs.map(name => ({ name, variadic, optional: false })),
      outputs: outputs.map(name => ({ name })),
      schema: { properties: {} }
    }
  ];
}

const LAYERS = new Map([
  layer('Source', []),
  layer('One', ['x']),
  layer('Two', ['x', 'y']),
  layer('Many', ['x'], true),
  layer('Sink', ['x'], false, [])
]);

const node = (type: string) => ({ type, name: type.toLowerCase(), params: {} });
const edge = (source: string, target: string, target_port = 'x') => ({
  source,
  source_port: 'out',
  target,
  target_port
});

const GRAPH: GraphData = {
  version: 1,
  name: '',
  nodes: {
    s: node('Source'),
    a: node('One'),
    b: node('One'),
    t: node('Two'),
    m: node('Many'),
    u: node('Unheard')
  },
  edges: { e1: edge('s', 'a'), e2: edge('a', 'b'), e3: edge('b', 'm') },
  positions: {}
};

const refused = (source: string, target: string, port?: string) =>
  refusal(edge(source, target, port), GRAPH, LAYERS, plainTranslator);

describe('refusal', () => {
  it.each([
    ['a', 't', 'x'],
    ['a', 't', 'y'],
    ['s', 'b', 'x'],
    ['s', 'm', 'x'],
    ['u', 'a', 'x']
  ])('takes %s to %s.%s', (source, target, port) => {
    expect(refused(source, target, port)).toBeNull();
  });

  it.each([
    ['itself', 'a', 'a', 'x', /connected to itself/],
    ['twice', 's', 'a', 'x', /already/],
    ['a loop of two', 'b', 'a', 'x', /cycle: one already leads to one/],
    ['a longer loop', 'm', 'a', 'x', /cycle/],
    ['a port that is not there', 's', 'b', 'z', /no input named z/],
    ['a node that is gone', 'gone', 'b', 'x', /no longer/]
  ])('refuses %s', (_, source, target, port, reason) => {
    expect(refused(source, target, port)).toMatch(reason);
  });
});

describe('replacedBy', () => {
  it('is the one edge of a plain port', () => {
    expect(edgesReplacedBy(edge('s', 'b'), GRAPH, LAYERS)).toEqual(['e2']);
    expect(edgesReplacedBy(edge('s', 't'), GRAPH, LAYERS)).toEqual([]);
  });

  it('is nothing for a variadic port', () => {
    expect(edgesReplacedBy(edge('s', 'm'), GRAPH, LAYERS)).toEqual([]);
  });
});

describe('portsOf', () => {
  it('reads the ports of an unknown layer from its edges', () => {
    const graph = { ...GRAPH, edges: { e: edge('a', 'u', 'wave') } };
    const ports = portsOf('u', undefined, graph);
    expect(ports.inputs.map(port => port.name)).toEqual(['wave']);
    expect(ports.outputs).toEqual([]);
  });
});

describe('edgesInto', () => {
  const into = (type: string, selected: string[]) =>
    edgesInto(LAYERS.get(type) as LayerSchema, selected, GRAPH, LAYERS).map(
      ({ source, target_port }) => `${source} ${target_port}`
    );

  it('gives each selected node a free port', () => {
    expect(into('One', ['a', 'b'])).toEqual(['a x']);
    expect(into('Two', ['a', 'b', 's'])).toEqual(['a x', 'b y']);
    expect(into('Many', ['a', 'b', 's'])).toEqual(['a x', 'b x', 's x']);
  });

  it('connects nothing where there is no port', () => {
    expect(into('Source', ['a'])).toEqual([]);
    expect(into('One', [])).toEqual([]);
  });
});
