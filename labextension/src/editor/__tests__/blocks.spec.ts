// Blocks: what is drawn of them, how they are made, folded, repeated and taken apart.
import { Change } from '../document';
import { folded, unfolded } from '../folding';
import {
  Fragment,
  fragmentFromText,
  fragmentOf,
  fragmentToText,
  pasted
} from '../fragment';
import {
  applied,
  blockRenamed,
  grouped,
  groupingRefusal,
  repeated,
  repeatingRefusal,
  ungrouped
} from '../grouping';
import { withKept, keptType } from '../keptBlocks';
import { NODE_SIZE } from '../layout';
import { GraphData, LayerSchema, Position } from '../model';
import { arranged, placeScene } from '../nesting';
import { commonPath, foldedPaths, pathsOf } from '../paths';
import { Block, edgesBehind, nodesOf, Scene, sceneOf } from '../scene';
import { plainTranslator } from '../translator';

const layer = (type: string, inputs = ['x']): LayerSchema => ({
  type,
  label: type,
  category: 'All',
  summary: '',
  palette: true,
  inputs: inputs.map(name => ({ name, variadic: false, optional: false })),
  outputs: [{ name: 'output' }],
  schema: {}
});
const LAYERS = new Map(
  [
    layer('Input', []),
    layer('Linear'),
    layer('ReLU'),
    layer('Add', ['a', 'b'])
  ].map(schema => [schema.type, schema])
);

/** input → a → b → c, where each is a name or a path. */
function chain(...names: string[]): GraphData {
  const nodes: GraphData['nodes'] = {};
  const edges: GraphData['edges'] = {};
  const positions: GraphData['positions'] = {};
  ['input', ...names].forEach((name, at) => {
    const type = at === 0 ? 'Input' : at % 2 ? 'Linear' : 'ReLU';
    nodes[`n${at}`] = { type, name, params: {} };
    positions[`n${at}`] = [0, 100 * at];
    if (at > 0) {
      edges[`e${at}`] = {
        source: `n${at - 1}`,
        source_port: 'output',
        target: `n${at}`,
        target_port: 'x'
      };
    }
  });
  return {
    version: 2,
    name: 'net',
    nodes,
    edges,
    positions,
    groups: {},
    ties: {}
  };
}

const names = (graph: GraphData) =>
  Object.values(graph.nodes).map(node => node.name);

const drawing = (graph: GraphData, scene: Scene) => ({
  graph,
  layers: LAYERS,
  scene,
  places: placeScene(scene, 'down'),
  direction: 'down' as const,
  sizeOf: () => NODE_SIZE
});

describe('paths', () => {
  it('are the blocks around a name', () => {
    expect(pathsOf('a/0/b')).toEqual(['a', 'a/0']);
    expect(pathsOf('a')).toEqual([]);
    expect(commonPath(['a/0/b', 'a/0/c'])).toBe('a/0');
    expect(commonPath(['a/0/b', 'a/01/c'])).toBe('a');
    expect(commonPath(['a/b', 'c'])).toBe('');
  });

  it('fold by themselves in a large graph that has no places', () => {
    const many = Array.from({ length: 70 }, (_, n) => `layers/${n % 7}/l${n}`);
    const graph = { ...chain(...many), groups: { layers: 'ModuleList' } };
    expect(foldedPaths(graph, '')).toEqual(new Set());
    const unplaced = { ...graph, positions: {} };
    expect([...foldedPaths(unplaced, '')]).toEqual(
      ['0', '1', '2', '3', '4', '5', '6'].map(n => `layers/${n}`)
    );
  });
});

describe('a scene', () => {
  const graph = chain('block/a', 'block/b', 'head');
  const box: GraphData = {
    ...graph,
    positions: { ...graph.positions, 'block/': [5, 6] },
    groups: { block: 'Block' }
  };

  it('draws a folded block as one node with the ends of its edges', () => {
    const scene = sceneOf(box, LAYERS, '');
    expect(Object.keys(scene.graph.nodes)).toEqual(['n0', 'block/', 'n3']);
    expect(Object.values(scene.graph.edges)).toEqual([
      {
        source: 'n0',
        source_port: 'output',
        target: 'block/',
        target_port: 'n1|x'
      },
      {
        source: 'block/',
        source_port: 'n2|output',
        target: 'n3',
        target_port: 'x'
      }
    ]);
    expect(nodesOf(scene, ['block/', 'n3'])).toEqual(['n1', 'n2', 'n3']);
    expect(scene.layers.get('block/')?.label).toBe('Block');
    expect(edgesBehind(Object.values(scene.graph.edges)[1], box)).toEqual([
      graph.edges.e3
    ]);
  });

  it('gives one input to all in a block that take the same', () => {
    const twice: GraphData = {
      ...box,
      edges: {
        ...box.edges,
        e9: {
          source: 'n0',
          source_port: 'output',
          target: 'n2',
          target_port: 'x'
        }
      }
    };
    const scene = sceneOf(twice, LAYERS, '');
    expect(scene.blocks.get('block/')?.ports.inputs).toHaveLength(1);
    const [first] = Object.keys(scene.graph.edges);
    expect(scene.edgesOf(first)).toEqual(['e1', 'e9']);
    const other = { ...scene.graph.edges[first], source: 'n3' };
    expect(edgesBehind(other, twice).map(edge => edge.target)).toEqual([
      'n1',
      'n2'
    ]);
  });

  it('shows free ends of a block as ports', () => {
    const { e1: _, e3: __, ...rest } = box.edges;
    const scene = sceneOf({ ...box, edges: rest }, LAYERS, '');
    const { inputs, outputs } = (scene.blocks.get('block/') as Block).ports;
    expect(inputs.map(port => port.label)).toEqual(['a.x']);
    expect(outputs.map(port => port.label)).toEqual(['b.output']);
  });

  it('shows the inside of a block and what is beyond', () => {
    const scene = sceneOf(box, LAYERS, 'block');
    expect(Object.keys(scene.graph.nodes)).toEqual(['n0', 'n1', 'n2', 'n3']);
    expect([...scene.outside]).toEqual(['n0', 'n3']);
    const places = placeScene(scene, 'down');
    expect(places.n0[1]).toBeLessThan(places.n1[1]);
    expect(places.n3[1]).toBeGreaterThan(places.n2[1]);
    expect(nodesOf(scene, ['n0', 'n1'])).toEqual(['n1']);
  });

  it('keeps what did not change', () => {
    const first = sceneOf(box, LAYERS, '');
    const next = sceneOf({ ...box }, LAYERS, '', first);
    expect(next.graph.nodes['block/']).toBe(first.graph.nodes['block/']);
    expect(next.blocks.get('block/')).toBe(first.blocks.get('block/'));
    expect(next.graph.edges.e1).toBe(first.graph.edges.e1);
  });

  it('is arranged block by block', () => {
    const nested = chain('a/b/c', 'a/b/d', 'a/e', 'f');
    const scene = sceneOf(nested, LAYERS, '');
    expect(scene.frames).toEqual(['a', 'a/b']);
    const places = arranged(scene, 'down');
    const tops = ['n0', 'n1', 'n2', 'n3', 'n4'].map(id => places[id][1]);
    expect([...tops].sort((a, b) => a - b)).toEqual(tops);
    // two headings lie between the input and the first layer of the inner block
    expect(tops[1] - tops[0]).toBeGreaterThan(NODE_SIZE.height + 44 + 56);
  });
});

describe('folding', () => {
  const graph = chain('block/a', 'block/b', 'head');

  it('and opening again leaves everything where it was', () => {
    const scene = sceneOf(graph, LAYERS, '');
    const shut = applied(graph, folded('block', drawing(graph, scene)));
    expect(shut.positions['block/']).toBeDefined();
    expect(shut.positions.n3[1]).toBeLessThan(graph.positions.n3[1]);
    const opened = applied(
      shut,
      unfolded('block', drawing(shut, sceneOf(shut, LAYERS, '')))
    );
    expect(opened.positions).toEqual(graph.positions);
  });

  it('arranges what never had a place', () => {
    const { n1: _, n2: __, ...positions } = graph.positions;
    const shut = {
      ...graph,
      positions: { ...positions, 'block/': [0, 100] as Position }
    };
    const opened = applied(
      shut,
      unfolded('block', drawing(shut, sceneOf(shut, LAYERS, '')))
    );
    const { n1, n2, n3 } = opened.positions;
    expect(n2[1]).toBeGreaterThanOrEqual(n1[1] + NODE_SIZE.height);
    expect(n3[1]).toBeGreaterThanOrEqual(n2[1] + NODE_SIZE.height);
  });

  it('opens one level at a time where there are many layers', () => {
    const inner = Array.from({ length: 16 }, (_, n) => `block/${n % 2}/l${n}`);
    const graph: GraphData = {
      ...chain(...inner),
      positions: { 'block/': [0, 0], n0: [0, 0] }
    };
    const opened = applied(
      graph,
      unfolded('block', drawing(graph, sceneOf(graph, LAYERS, '')))
    );
    const scene = sceneOf(opened, LAYERS, '');
    expect(Object.keys(scene.graph.nodes)).toEqual([
      'n0',
      'block/0/',
      'block/1/'
    ]);
  });
});

describe('grouping', () => {
  const graph = chain('a', 'b', 'c');
  const tied: GraphData = { ...graph, ties: { 'a/kernel:0': 'c/kernel:0' } };
  const trans = plainTranslator;

  it('puts layers into a block with all that goes by their names', () => {
    const { path, change } = grouped(tied, ['n0', 'n1', 'n2']);
    expect(path).toBe('block');
    const next = applied(tied, change);
    expect(names(next)).toEqual(['input', 'block/a', 'block/b', 'c']);
    expect(next.groups).toEqual({ block: 'Block' });
    expect(next.ties).toEqual({ 'block/a/kernel:0': 'c/kernel:0' });
    expect(next.edges).toEqual(tied.edges);
  });

  it('and taking apart is no change', () => {
    const next = applied(tied, grouped(tied, ['n1', 'n2']).change);
    const back = applied(next, ungrouped(next, 'block'));
    expect(back.nodes).toEqual(tied.nodes);
    expect(back.ties).toEqual(tied.ties);
    expect(back.groups).toEqual({});
  });

  it('takes whole blocks in, and stays in the block that holds all', () => {
    const once = applied(graph, grouped(graph, ['n1', 'n2']).change);
    const outer = applied(once, grouped(once, ['n1', 'n2', 'n3']).change);
    expect(names(outer)).toEqual([
      'input',
      'block_1/block/a',
      'block_1/block/b',
      'block_1/c'
    ]);
    expect(outer.groups).toEqual({
      block_1: 'Block',
      'block_1/block': 'Block'
    });
    const inner = applied(outer, grouped(outer, ['n2'], 'act').change);
    expect(inner.nodes.n2.name).toBe('block_1/block/act/b');
  });

  it('refuses what has a layer between', () => {
    expect(groupingRefusal(graph, ['n1', 'n3'], trans)).toContain(
      'b lies between'
    );
    expect(groupingRefusal(graph, ['n1', 'n2'], trans)).toBeNull();
    expect(groupingRefusal(graph, ['n0'], trans)).not.toBeNull();
  });

  it('renames a block with what is in it', () => {
    const next = applied(tied, grouped(tied, ['n1', 'n2']).change);
    const other = applied(next, blockRenamed(next, 'block', 'stem'));
    expect(names(other)).toEqual(['input', 'stem/a', 'stem/b', 'c']);
    expect(other.groups).toEqual({ stem: 'Block' });
    expect(other.ties).toEqual({ 'stem/a/kernel:0': 'c/kernel:0' });
  });
});

describe('a block in a row', () => {
  const start = chain('a', 'b', 'c');
  const graph = applied(start, grouped(start, ['n1', 'n2']).change);

  it('follows itself, each with layers of its own', () => {
    const change = repeated(graph, 'block', 3, [0, 100], () => 'output');
    const next = applied(graph, change);
    expect(names(next)).toEqual([
      'input',
      'block/0/a',
      'block/0/b',
      'c',
      'block/1/a',
      'block/1/b',
      'block/2/a',
      'block/2/b'
    ]);
    expect(next.groups).toEqual({
      block: 'Sequential',
      'block/0': 'Block',
      'block/1': 'Block',
      'block/2': 'Block'
    });
    const id = (name: string) =>
      Object.keys(next.nodes).find(key => next.nodes[key].name === name);
    const pairs = Object.values(next.edges).map(edge => [
      edge.source,
      edge.target
    ]);
    expect(pairs).toContainEqual([id('block/0/b'), id('block/1/a')]);
    expect(pairs).toContainEqual([id('block/2/b'), id('c')]);
    expect(pairs).not.toContainEqual([id('block/0/b'), id('c')]);
    expect(pairs).toHaveLength(7);
    // and goes on counting
    const more = applied(
      next,
      repeated(next, 'block/2', 2, [0, 1], () => 'output')
    );
    expect(more.groups).toHaveProperty('block/3', 'Block');
  });

  it('needs one way in and one out', () => {
    const two: GraphData = {
      ...graph,
      edges: {
        ...graph.edges,
        e9: {
          source: 'n1',
          source_port: 'output',
          target: 'n3',
          target_port: 'x'
        }
      }
    };
    expect(repeatingRefusal(two, 'block', plainTranslator)).toContain(
      '1 and 2'
    );
    expect(repeatingRefusal(graph, 'block', plainTranslator)).toBeNull();
  });
});

describe('copies of blocks', () => {
  const start = chain('a', 'b', 'c');
  const graph = applied(start, grouped(start, ['n1', 'n2']).change);
  const copy = (ids: string[], within = ''): GraphData => {
    const piece = fragmentFromText(fragmentToText(fragmentOf(graph, ids)));
    const { change } = pasted(piece as Fragment, graph, within, [10, 10]);
    return applied(graph, change as Change);
  };

  it('get another name as a whole', () => {
    const next = copy(['n1', 'n2']);
    expect(names(next).slice(4)).toEqual(['block_1/a', 'block_1/b']);
    expect(next.groups).toEqual({ block: 'Block', block_1: 'Block' });
  });

  it('of a part stay in the block, and go where one is', () => {
    expect(names(copy(['n1'])).slice(4)).toEqual(['block/a_1']);
    expect(names(copy(['n3'], 'block')).slice(4)).toEqual(['block/c']);
  });

  it('can be kept and are offered as layers are', () => {
    const text = fragmentToText(fragmentOf(graph, ['n1', 'n2']));
    const table = withKept(
      LAYERS,
      { stem: text, broken: '{' },
      plainTranslator
    );
    const schema = table.get(keptType('stem'));
    expect(schema?.inputs.map(port => port.name)).toEqual(['n1|x']);
    expect(schema?.outputs.map(port => port.name)).toEqual(['n2|output']);
    expect(table.has(keptType('broken'))).toBe(false);
  });
});
