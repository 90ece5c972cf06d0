// Graphs to look at: nothing, a small net, broken ones, long names, large ones.
import { EMPTY_GRAPH, GraphData, Json } from '../src/editor/model/graph-data';

type Row = [type: string, params?: { [key: string]: Json }, from?: string[]];

/** Rows in order; without `from`, each takes the one before. Names may be given as "Type:name". */
function graph(name: string, rows: Row[]): GraphData {
  const made: GraphData = { ...EMPTY_GRAPH, name, nodes: {}, edges: {} };
  const ids = new Map<string, string>();
  rows.forEach(([head, params = {}, from], index) => {
    const [type, given] = head.split(':');
    const id = `n${index}`;
    const called = given ?? `${type.toLowerCase().replace('.', '_')}_${index}`;
    made.nodes[id] = { type, name: called, params };
    ids.set(called, id);
    const sources = from ?? (index ? [made.nodes[`n${index - 1}`].name] : []);
    sources.forEach((source, at) => {
      made.edges[`e${index}_${at}`] = {
        source: ids.get(source) ?? '',
        source_port: 'output',
        target: id,
        target_port: type === 'Attention' ? ['query', 'key', 'value'][at] : 'x'
      };
    });
  });
  return made;
}

const conv = (out_channels: number) => ({ out_channels, padding: 'same' });

function blocks(count: number): Row[] {
  const rows: Row[] = [
    ['Input:image', { shape: [null, 3, 64, 64] }],
    ['Conv2d:stem', conv(64)]
  ];
  let last = 'stem';
  for (let n = 1; n <= count; n++) {
    rows.push([`Conv2d:conv${n}a`, conv(64), [last]]);
    rows.push([`BatchNorm2d:norm${n}a`]);
    rows.push([`ReLU:relu${n}`]);
    rows.push([`Conv2d:conv${n}b`, conv(64)]);
    rows.push([`Add:add${n}`, {}, [`conv${n}b`, last]]);
    last = `add${n}`;
  }
  return rows;
}

const long = 'a_name_that_somebody_made_far_longer_than_a_node_is_wide';

export const GRAPHS: { [name: string]: () => GraphData } = {
  empty: () => graph('', []),
  small: () =>
    graph('digits', [
      ['Input:image'],
      ['Conv2d:conv1', { ...conv(16), kernel_size: 3 }],
      ['ReLU:relu1'],
      ['MaxPool2d:pool1'],
      ['Flatten:flatten'],
      ['Linear:classes', { out_features: 10 }]
    ]),
  broken: () =>
    graph('broken', [
      ['Input:vector', { shape: [null, 784] }],
      ['Conv2d:stem', conv(8)],
      ['Linear:left', {}, ['vector']],
      ['Wavelet:strange', { order: 3 }, ['vector']],
      ['ReLU:alone', {}, []]
    ]),
  names: () =>
    graph(long, [
      [`Input:${long}`, { shape: [null, 1024, 1024, 1024, 1024, 16] }],
      ['Attention:self_attention', {}, [long, long, long]],
      [`BatchNorm2d:${long}_2`],
      ['Linear:wide', { out_features: 1200000 }]
    ]),
  residual: () => graph('residual', blocks(3)),
  branches: () =>
    graph('branches', [
      ['Input:image', { shape: [null, 16, 8, 8] }],
      ['Conv2d:a1', conv(8), ['image']],
      ['Conv2d:b1', conv(8), ['image']],
      ['Conv2d:b2', conv(8), ['b1']],
      ['Conv2d:c1', conv(8), ['image']],
      ['Conv2d:c2', conv(8), ['c1']],
      ['Conv2d:c3', conv(8), ['c2']],
      ['MaxPool2d:d1', {}, ['image']],
      ['Concat:join', {}, ['a1', 'b2', 'c3', 'd1']],
      ['Flatten:flatten'],
      ['Linear:classes', { out_features: 10 }]
    ]),
  large: () => graph('large', blocks(40)),
  huge: () => graph('huge', blocks(200))
};
