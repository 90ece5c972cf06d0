// Tests of inserting a layer: where it fits, its edges, and the room made for it.
import * as Y from 'yjs';

import { GraphDocument } from '../document';
import {
  cornerAt,
  edgesAt,
  fits,
  middleOf,
  roomInside,
  Spot
} from '../insertion';
import { NODE_SIZE } from '../../canvas/node-size';
import { GraphData, LayerSchema, LayerTable } from '../graph-data';
import { GAP } from '../../canvas/placement';

const layer = (
  type: string,
  inputs: string[],
  outputs: string[],
  variadic = false
): LayerSchema => ({
  type,
  label: type,
  category: 'any',
  summary: '',
  palette: true,
  inputs: inputs.map(name => ({ name, variadic, optional: false })),
  outputs: outputs.map(name => ({ name })),
  schema: { properties: {} }
});

const SOURCE = layer('Source', [], ['out']);
const ONE = layer('One', ['x', 'mask'], ['out', 'more']);
const SINK = layer('Sink', ['x'], []);
const SUM = layer('Sum', ['xs'], ['out'], true);
const LAYERS: LayerTable = new Map(
  [SOURCE, ONE, SINK, SUM].map(each => [each.type, each])
);

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
  nodes: { a: node('Source'), b: node('One'), s: node('Sum') },
  edges: {
    e1: edge('a', 'b'),
    e2: edge('a', 's', 'xs'),
    e3: edge('b', 's', 'xs')
  },
  positions: { a: [0, 0], b: [0, 102], s: [0, 204] }
};

const AFTER: Spot = { after: { node: 'a', port: 'out' } };
const BEFORE: Spot = { before: { node: 'b', port: 'x' } };
const INSIDE: Spot = { edge: 'e2' };

describe('fits', () => {
  it.each([
    ['after an output', AFTER, ['One', 'Sink', 'Sum']],
    ['before an input', BEFORE, ['Source', 'One', 'Sum']],
    ['inside an edge', INSIDE, ['One', 'Sum']],
    ['anywhere', undefined, ['Source', 'One', 'Sink', 'Sum']]
  ])('%s', (_, spot, types) => {
    const found = [...LAYERS.values()].filter(each => fits(each, spot));
    expect(found.map(each => each.type)).toEqual(types);
  });
});

describe('edgesAt', () => {
  const at = (each: LayerSchema, spot: Spot) =>
    edgesAt(each, spot, GRAPH, LAYERS);

  it('goes from an output into the first input', () => {
    expect(at(ONE, AFTER)).toEqual({
      incoming: [{ source: 'a', source_port: 'out', target_port: 'x' }]
    });
  });

  it('goes from the first output to an input, which held another edge', () => {
    expect(at(ONE, BEFORE)).toEqual({
      outgoing: [{ source_port: 'out', target: 'b', target_port: 'x' }],
      replaced: ['e1']
    });
  });

  it('leaves the other edges of a variadic input', () => {
    const spot = { before: { node: 's', port: 'xs' } };
    expect(at(ONE, spot).replaced).toEqual([]);
  });

  it('takes the place of an edge', () => {
    expect(at(ONE, INSIDE)).toEqual({
      incoming: [{ source: 'a', source_port: 'out', target_port: 'x' }],
      outgoing: [{ source_port: 'out', target: 's', target_port: 'xs' }],
      replaced: ['e2']
    });
  });

  it.each([
    ['a layer that does not fit', SOURCE, INSIDE],
    ['a layer without outputs', SINK, BEFORE],
    ['an edge that is gone', ONE, { edge: 'gone' }],
    ['a node that is gone', ONE, { after: { node: 'gone', port: 'out' } }]
  ])('is nothing for %s', (_, each, spot) => {
    expect(at(each, spot)).toEqual({});
  });

  it('inserts in one step and keeps the order at a variadic input', () => {
    const document = new GraphDocument(new Y.Doc());
    document.load(GRAPH);
    const before = document.snapshot();
    const id = document.addNode(
      { type: 'One', position: [5, 5] },
      { ...at(ONE, INSIDE), moved: { s: [0, 306] } }
    );
    const { edges, positions } = document.snapshot();
    const intoSum = Object.values(edges).filter(each => each.target === 's');
    expect(intoSum.map(each => each.source)).toEqual([id, 'b']);
    expect(Object.keys(edges)).toHaveLength(4);
    expect(positions.s).toEqual([0, 306]);
    expect(document.undoManager.undoStack).toHaveLength(1);
    document.undo();
    expect(document.snapshot()).toEqual(before);
  });

  it('keeps the order when an edge gets another source', () => {
    const document = new GraphDocument(new Y.Doc());
    document.load({ ...GRAPH, nodes: { ...GRAPH.nodes, c: node('Source') } });
    document.addEdges([edge('c', 's', 'xs')], ['e2']);
    const intoSum = Object.values(document.snapshot().edges).filter(
      each => each.target === 's'
    );
    expect(intoSum.map(each => each.source)).toEqual(['c', 'b']);
  });
});

describe('places', () => {
  const drawn = {
    places: GRAPH.positions,
    direction: 'down' as const,
    sizeOf: () => NODE_SIZE
  };
  const step = NODE_SIZE.height + GAP;

  it('hang a node on the end of a link', () => {
    const { width, height } = NODE_SIZE;
    expect(cornerAt([500, 300], AFTER, 'down')).toEqual([500 - width / 2, 300]);
    expect(cornerAt([500, 300], BEFORE, 'down')).toEqual([
      500 - width / 2,
      300 - height
    ]);
    expect(cornerAt([500, 300], AFTER, 'right')).toEqual([
      500,
      300 - height / 2
    ]);
  });

  it('move what comes behind a narrow edge', () => {
    const { position, moved } = roomInside('e1', [3, 50], GRAPH, drawn);
    expect(position).toEqual([3, step]);
    expect(moved).toEqual({ a: [0, 0], b: [0, 2 * step], s: [0, 3 * step] });
  });

  it('move nothing along a long edge', () => {
    const positions = { ...GRAPH.positions, b: [0, 900] as [number, number] };
    const room = roomInside('e1', [3, 400], GRAPH, {
      ...drawn,
      places: positions
    });
    expect(room).toEqual({ position: [3, 400], moved: {} });
  });

  it('move nothing along an edge that runs backwards', () => {
    const positions = { ...GRAPH.positions, b: [0, -300] as [number, number] };
    const room = roomInside('e1', [3, -100], GRAPH, {
      ...drawn,
      places: positions
    });
    expect(room.moved).toEqual({});
  });

  it('lie between the ends of an edge', () => {
    const { width, height } = NODE_SIZE;
    expect(middleOf('e1', GRAPH, drawn)).toEqual([width / 2, 51 + height / 2]);
  });
});
