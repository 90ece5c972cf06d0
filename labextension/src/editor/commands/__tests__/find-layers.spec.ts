import { findLayers } from '../find-layers';
import { plainTranslator } from '../../../ui/translator';
import { LayerSchema, NodeCheck } from '../../model/graph-data';

const GRAPH = {
  version: 1,
  name: 'net',
  nodes: {
    a: { type: 'Conv2d', name: 'stem/conv', params: { out_channels: 64 } },
    b: { type: 'Linear', name: '卷积层', params: { out_features: 10 } },
    c: { type: 'Conv2d', name: 'again', params: {}, shares: 'a' },
    d: { type: 'Gone', name: 'unknown', params: {} }
  },
  edges: {},
  positions: {}
};
const LAYERS = new Map(
  ['Conv2d', 'Linear'].map(type => [
    type,
    {
      type,
      label: type === 'Linear' ? '全连接' : type,
      category: 'any'
    } as LayerSchema
  ])
);
const CHECKS: { [id: string]: NodeCheck } = {
  a: {
    outputs: { out: { shape: [null, 64, 8, 8], dtype: 'float32' } },
    problem: null
  } as unknown as NodeCheck,
  b: { outputs: {}, problem: 'wants 2 axes' } as unknown as NodeCheck
};

const find = (query: string) =>
  findLayers(query, GRAPH, LAYERS, id => CHECKS[id], plainTranslator).join('');

test.each([
  ['stem', 'a'],
  ['CONV2D', 'ac'],
  ['conv again', 'c'],
  ['out_channels=64', 'ac'],
  ['64 × 8 × 8', 'a'],
  ['64x8x8', 'a'],
  ['?, 64, 8', 'a'],
  ['N × 64', 'a'],
  ['problem', 'b'],
  ['2 axes', 'b'],
  ['卷积', 'b'],
  ['全连接', 'b'],
  ['ｃｏｎｖ', 'ac'],
  ['gone', 'd'],
  ['', ''],
  ['  ', ''],
  ['conv nothing', '']
])('%j finds %j', (query, ids) => {
  expect(find(query)).toBe(ids);
});
