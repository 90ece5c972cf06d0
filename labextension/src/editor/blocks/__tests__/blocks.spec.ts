// Tests of blocks: drawing, grouping, folding, repeating and ungrouping.
import { Change } from '../../model/document';
import { Drawn, collapseBlock, expandBlock, expandRequest } from '../collapse';
import {
  Fragment,
  fragmentFromText,
  fragmentOf,
  fragmentToText,
  pasteFragment
} from '../../model/fragment';
import {
  applyChange,
  renameBlock,
  groupNodes,
  groupingRefusal,
  repeatBlock,
  repeatingRefusal,
  ungroupBlock
} from '../grouping';
import { withSavedBlocks, savedBlockType } from '../../palette/saved-blocks';
import { NODE_SIZE } from '../../canvas/node-size';
import { GraphData, LayerSchema, Position } from '../../model/graph-data';
import {
  layoutRequest,
  Places,
  placesInRow
} from '../../canvas/layout-request';
import { placeScene } from '../../canvas/scene-places';
import { commonPath, foldedPaths, pathsOf } from '../../model/paths';
import {
  Block,
  edgesBehind,
  nodesOf,
  Scene,
  sceneOf
} from '../../canvas/scene';
import { plainTranslator } from '../../../ui/translator';

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

/** Opens a block as with a host that arranges all nodes in one row. */
function opening(graph: GraphData, path: string): GraphData {
  const drawn: Drawn = drawing(graph, sceneOf(graph, LAYERS, ''));
  const request = expandRequest(path, drawn);
  return applyChange(
    graph,
    expandBlock(path, drawn, request ? placesInRow(request) : {})
  );
}

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

  it('is arranged as what is drawn, with the open blocks around it', () => {
    const nested = chain('a/b/c', 'a/b/d', 'a/e', 'f');
    const scene = sceneOf(nested, LAYERS, '');
    const request = layoutRequest(scene, 'down');
    expect(request.frames).toEqual(['a', 'a/b']);
    expect(request.nodes.n1).toEqual({ name: 'a/b/c', ...NODE_SIZE });
    expect(request.edges).toHaveLength(4);
    const inner = layoutRequest(scene, 'right', () => NODE_SIZE, 'a');
    expect(Object.keys(inner.nodes)).toEqual(['n1', 'n2', 'n3']);
    expect(inner.edges).toEqual([
      ['n1', 'n2'],
      ['n2', 'n3']
    ]);
    expect(inner.frames).toEqual(['a/b']);
    expect(inner.direction).toBe('right');
  });

  it('that was arranged gives new nodes free places, and positions go before', () => {
    const bare = { ...chain('a', 'b', 'c'), positions: {} };
    const arranged: Places = { n0: [0, 0], n1: [0, 100], n2: [0, 200] };
    const scene = sceneOf(bare, LAYERS, '');
    const places = placeScene(scene, 'down', arranged);
    expect(places).toMatchObject(arranged);
    expect(places.n3[1]).toBeGreaterThan(200);
    const placed = chain('a', 'b', 'c');
    expect(placeScene(sceneOf(placed, LAYERS, ''), 'down', arranged)).toEqual(
      placed.positions
    );
  });
});

describe('folding', () => {
  const graph = chain('block/a', 'block/b', 'head');

  it('and opening again leaves everything where it was', () => {
    const scene = sceneOf(graph, LAYERS, '');
    const shut = applyChange(
      graph,
      collapseBlock('block', drawing(graph, scene))
    );
    expect(shut.positions['block/']).toBeDefined();
    expect(shut.positions.n3[1]).toBeLessThan(graph.positions.n3[1]);
    const open = drawing(shut, sceneOf(shut, LAYERS, ''));
    expect(expandRequest('block', open)).toBeNull();
    const opened = applyChange(shut, expandBlock('block', open));
    expect(opened.positions).toEqual(graph.positions);
  });

  it('arranges what never had a place', () => {
    const { n1: _, n2: __, ...positions } = graph.positions;
    const shut = {
      ...graph,
      positions: { ...positions, 'block/': [0, 100] as Position }
    };
    const opened = opening(shut, 'block');
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
    const opened = opening(graph, 'block');
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
    const { path, change } = groupNodes(tied, ['n0', 'n1', 'n2']);
    expect(path).toBe('block');
    const next = applyChange(tied, change);
    expect(names(next)).toEqual(['input', 'block/a', 'block/b', 'c']);
    expect(next.groups).toEqual({ block: 'Block' });
    expect(next.ties).toEqual({ 'block/a/kernel:0': 'c/kernel:0' });
    expect(next.edges).toEqual(tied.edges);
  });

  it('and taking apart is no change', () => {
    const next = applyChange(tied, groupNodes(tied, ['n1', 'n2']).change);
    const back = applyChange(next, ungroupBlock(next, 'block'));
    expect(back.nodes).toEqual(tied.nodes);
    expect(back.ties).toEqual(tied.ties);
    expect(back.groups).toEqual({});
  });

  it('takes whole blocks in, and stays in the block that holds all', () => {
    const once = applyChange(graph, groupNodes(graph, ['n1', 'n2']).change);
    const outer = applyChange(
      once,
      groupNodes(once, ['n1', 'n2', 'n3']).change
    );
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
    const inner = applyChange(outer, groupNodes(outer, ['n2'], 'act').change);
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
    const next = applyChange(tied, groupNodes(tied, ['n1', 'n2']).change);
    const other = applyChange(next, renameBlock(next, 'block', 'stem'));
    expect(names(other)).toEqual(['input', 'stem/a', 'stem/b', 'c']);
    expect(other.groups).toEqual({ stem: 'Block' });
    expect(other.ties).toEqual({ 'stem/a/kernel:0': 'c/kernel:0' });
  });
});

describe('a block in a row', () => {
  const start = chain('a', 'b', 'c');
  const graph = applyChange(start, groupNodes(start, ['n1', 'n2']).change);

  it('follows itself, each with layers of its own', () => {
    const change = repeatBlock(graph, 'block', 3, [0, 100], () => 'output');
    const next = applyChange(graph, change);
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
    // and continues the numbering
    const more = applyChange(
      next,
      repeatBlock(next, 'block/2', 2, [0, 1], () => 'output')
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
  const graph = applyChange(start, groupNodes(start, ['n1', 'n2']).change);
  const copy = (ids: string[], within = ''): GraphData => {
    const piece = fragmentFromText(fragmentToText(fragmentOf(graph, ids)));
    const { change } = pasteFragment(
      piece as Fragment,
      graph,
      within,
      [10, 10]
    );
    return applyChange(graph, change as Change);
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
    const table = withSavedBlocks(
      LAYERS,
      { stem: text, broken: '{' },
      plainTranslator
    );
    const schema = table.get(savedBlockType('stem'));
    expect(schema?.inputs.map(port => port.name)).toEqual(['n1|x']);
    expect(schema?.outputs.map(port => port.name)).toEqual(['n2|output']);
    expect(table.has(savedBlockType('broken'))).toBe(false);
  });
});
