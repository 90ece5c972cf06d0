// Tests of recognizing pasted Python, and of the positions of its layers.
import { NODE_SIZE } from '../../canvas/node-size';
import { LayoutRequest, placesInRow } from '../../canvas/layout-request';
import { GraphData, Position } from '../../model/graph-data';
import { looksLikePython, pieceOfPython } from '../paste-python';

const PIECE: GraphData = {
  version: 2,
  name: 'Piece',
  nodes: {
    a: { type: 'Linear', name: 'linear', params: { out_features: 3 } },
    b: { type: 'ReLU', name: 'relu', params: {} }
  },
  edges: {
    e: { source: 'a', source_port: 'output', target: 'b', target_port: 'x' }
  },
  positions: {}
};

const around = (places: { [id: string]: Position }) => ({
  readPiece: () => Promise.resolve({ graph: PIECE, problem: null }),
  arrange: (request: LayoutRequest) => Promise.resolve(placesInRow(request)),
  direction: 'down' as const,
  places,
  middle: (): Position => [500, 300]
});

describe('pasting Python', () => {
  it.each([
    ['nn.Linear(10), nn.ReLU()', true],
    ['x = ops.relu(x)', true],
    ['tf.keras.layers.Dense(3)', true],
    ['class Net(nn.Module):\n    pass', true],
    ['from keras.layers import Dense\nDense(3)', true],
    ['from torch.nn import Linear\nLinear(3, 4)', true],
    ['from here import there', false],
    ['nothing of it', false],
    ['a class of its own', false],
    ['{"cells": []}', false],
    ['ann.Bell(3)', false]
  ])('%s', (text, expected) => {
    expect(looksLikePython(text)).toBe(expected);
  });

  it('puts the layers in the middle, one after the other, over no other node', async () => {
    const free = await pieceOfPython('', around({}));
    if (!('fragment' in free)) {
      throw new Error(free.problem);
    }
    const { a, b } = free.fragment.positions;
    expect(a[0] + NODE_SIZE.width / 2).toBeCloseTo(500, 0);
    expect(b[1]).toBeGreaterThan(a[1] + NODE_SIZE.height);
    expect((a[1] + b[1] + NODE_SIZE.height) / 2).toBeCloseTo(300, 0);
    const beside = await pieceOfPython('', around({ other: a }));
    if (!('fragment' in beside)) {
      throw new Error(beside.problem);
    }
    const moved = beside.fragment.positions.a;
    expect(Math.abs(moved[0] - a[0])).toBeGreaterThanOrEqual(NODE_SIZE.width);
  });

  it('hands on why there are none', async () => {
    const problem = { message: 'line 1: no layer', line: 1 };
    const answer = await pieceOfPython('', {
      ...around({}),
      readPiece: () => Promise.resolve({ graph: null, problem })
    });
    expect(answer).toEqual({ problem: 'line 1: no layer' });
  });
});
