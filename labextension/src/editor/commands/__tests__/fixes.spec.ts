// Tests of the labels of fixes; Editor.spec tests their effect.
import { fixLabel } from '../fixes';
import { Fix, GraphData } from '../../model/graph-data';
import { plainTranslator } from '../../../ui/translator';

const GRAPH: GraphData = {
  version: 2,
  name: '',
  nodes: {
    a: { type: 'Input', name: 'images', params: {} },
    b: { type: 'Conv2d', name: 'conv', params: {} }
  },
  edges: {
    e: { source: 'a', source_port: 'out', target: 'b', target_port: 'x' }
  },
  positions: {}
};

const label = (fix: Fix) => fixLabel(fix, GRAPH, plainTranslator);

describe('fixLabel', () => {
  it.each<[Fix, string]>([
    [
      { kind: 'insert', edge: 'e', type: 'Flatten', params: {} },
      'Insert Flatten'
    ],
    [
      {
        kind: 'insert',
        edge: 'e',
        type: 'Conv2d',
        params: { out_channels: 16, kernel_size: 1 }
      },
      'Insert Conv2d(16, 1)'
    ],
    [
      {
        kind: 'add',
        node: 'b',
        port: 'x',
        type: 'Input',
        params: { shape: [null, 3] }
      },
      'Insert Input([null,3])'
    ],
    [
      {
        kind: 'connect',
        node: 'b',
        port: 'x',
        source: 'a',
        source_port: 'out'
      },
      'Connect to images'
    ],
    [{ kind: 'disconnect', edge: 'e' }, 'Remove the connection'],
    [
      { kind: 'set', node: 'b', name: 'padding', value: 'same' },
      'Set padding of conv to "same"'
    ],
    [
      { kind: 'set', node: 'b', name: 'stride', value: null },
      'Reset stride to its default'
    ],
    [{ kind: 'rename', node: 'b', name: 'conv_layer' }, 'Rename to conv_layer']
  ])('says what %j does', (fix, text) => {
    expect(label(fix)).toBe(text);
  });

  it.each<Fix>([
    { kind: 'insert', edge: 'gone', type: 'Flatten', params: {} },
    { kind: 'disconnect', edge: 'gone' },
    { kind: 'rename', node: 'gone', name: 'x' },
    {
      kind: 'connect',
      node: 'b',
      port: 'x',
      source: 'gone',
      source_port: 'out'
    }
  ])('offers nothing for what is gone: %j', fix => {
    expect(label(fix)).toBeNull();
  });
});
