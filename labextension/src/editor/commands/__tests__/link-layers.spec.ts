// Tests of linking selected layers by key: chosen ports and refusals.
import { linksBetween } from '../link-layers';
import { GraphData, LayerSchema } from '../../model/graph-data';
import { plainTranslator } from '../../../ui/translator';

const layer = (
  type: string,
  inputs: string[],
  outputs = ['output'],
  variadic = false
): LayerSchema => ({
  type,
  label: type,
  category: '',
  summary: '',
  palette: true,
  inputs: inputs.map(name => ({ name, variadic, optional: false })),
  outputs: outputs.map(name => ({ name })),
  schema: {}
});
const LAYERS = new Map(
  [
    layer('Source', []),
    layer('Filter', ['x']),
    layer('Pair', ['a', 'b']),
    layer('Sum', ['xs'], ['output'], true),
    layer('Loss', ['x'], [])
  ].map(schema => [schema.type, schema])
);

function graph(types: string[]): GraphData {
  const nodes = Object.fromEntries(
    types.map((type, at) => [`n${at}`, { type, name: `l${at}`, params: {} }])
  );
  return { version: 2, name: '', nodes, edges: {}, positions: {} };
}

const link = (ids: string[], among: GraphData) =>
  linksBetween(ids, among, LAYERS, plainTranslator);

const edge = (source: string, target: string, port: string) => ({
  source,
  source_port: 'output',
  target,
  target_port: port
});

describe('links between selected layers', () => {
  it('follow the order of the selection', () => {
    expect(link(['n2', 'n0'], graph(['Filter', 'Filter', 'Source']))).toEqual({
      edges: [edge('n2', 'n0', 'x')],
      replaced: []
    });
    expect(
      link(['n0', 'n1', 'n2'], graph(['Source', 'Filter', 'Sum']))
    ).toEqual({
      edges: [edge('n0', 'n1', 'x'), edge('n1', 'n2', 'xs')],
      replaced: []
    });
  });

  it('complete a row of which a part is there', () => {
    const row = graph(['Source', 'Filter', 'Filter']);
    row.edges = { e: edge('n1', 'n2', 'x') };
    expect(link(['n0', 'n1', 'n2'], row)).toMatchObject({
      edges: [edge('n0', 'n1', 'x')]
    });
  });

  it('take a free input, else give the first another source', () => {
    const pair = graph(['Source', 'Pair', 'Source', 'Source']);
    pair.edges = { e: edge('n0', 'n1', 'a') };
    expect(link(['n2', 'n1'], pair)).toMatchObject({
      edges: [edge('n2', 'n1', 'b')],
      replaced: []
    });
    pair.edges.f = edge('n2', 'n1', 'b');
    expect(link(['n3', 'n1'], pair)).toMatchObject({
      edges: [edge('n3', 'n1', 'a')],
      replaced: ['e']
    });
  });

  it('say what cannot be connected', () => {
    const all = graph(['Source', 'Filter', 'Loss', 'Source']);
    expect(link(['n1', 'n0'], all)).toBe('l0 has no input.');
    expect(link(['n2', 'n1'], all)).toBe('l2 has no output.');
    expect(link(['n1', 'n1'], all)).toContain('connected to itself');
    expect(link(['n0', 'n1', 'n0'], all)).toBe('l0 has no input.');
  });
});
