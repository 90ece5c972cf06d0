// Tests of the smaller parts: names, texts, fragments, palette, selection, keys, direction.
import { EditorActions } from '../../commands/actions';
import { flowNodes, View } from '../../canvas/react-flow';
import { formatShortCount } from '../../../ui/number-format';
import { fullCount, shapeText } from '../shape-format';
import { fragmentFromText, fragmentOf, fragmentToText } from '../fragment';
import { runKey, SHORTCUTS } from '../../commands/key-bindings';
import schema from '../../../../schema/plugin.json';
import { GraphData, LayerSchema } from '../graph-data';
import { isIdentifier, nameOfType, uniqueName } from '../naming';
import { paletteGroups } from '../../palette/palette-groups';
import { sceneOf } from '../../canvas/scene';
import { SelectionStore } from '../selection';
import { plainTranslator } from '../../../ui/translator';

const GRAPH: GraphData = {
  version: 1,
  name: 'net',
  nodes: {
    a: { type: 'In', name: 'image', params: { shape: [null, 3] } },
    b: { type: 'Conv', name: 'conv', params: {} }
  },
  edges: {
    e: { source: 'a', source_port: 'out', target: 'b', target_port: 'x' }
  },
  positions: { a: [0, 0], b: [0, 100] }
};

describe('names', () => {
  it('come from the type', () => {
    expect(nameOfType('Conv2d')).toBe('conv2d');
    expect(nameOfType('ops.relu')).toBe('relu');
    expect(nameOfType('1x1')).toBe('layer_1x1');
  });

  it('are unique and valid in Python', () => {
    expect(uniqueName('conv', new Set())).toBe('conv');
    expect(uniqueName('conv', new Set(['conv', 'conv_1']))).toBe('conv_2');
    expect(uniqueName('conv_1', new Set(['conv_1']))).toBe('conv_2');
    expect(uniqueName('lambda', new Set())).toBe('lambda_1');
    expect(['conv1', '_x', 'größe'].every(isIdentifier)).toBe(true);
    expect(['1x', 'a b', 'class', ''].some(isIdentifier)).toBe(false);
  });
});

describe('figures', () => {
  it('are short on the node and full in the title', () => {
    expect(shapeText([null, 16, 8, 8], 'one number')).toBe('N × 16 × 8 × 8');
    expect(shapeText([], 'one number')).toBe('one number');
    expect(
      [0, 160, 999, 1000, 12345, 1234567, 999999, 25e8].map(formatShortCount)
    ).toEqual(['0', '160', '999', '1 k', '12.3 k', '1.2 M', '1 M', '2.5 G']);
    expect(fullCount(1234567)).toBe('1,234,567');
  });

  it('are filled into translated sentences', () => {
    expect(plainTranslator.__('%1 of %2', 1, 'two')).toBe('1 of two');
    expect(plainTranslator._n('%1 layer', '%1 layers', 3)).toBe('3 layers');
    expect(plainTranslator._n('%1 layer', '%1 layers', 1)).toBe('1 layer');
  });
});

describe('fragments', () => {
  it('survive the clipboard', () => {
    const fragment = fragmentOf(GRAPH, ['a', 'b']);
    expect(fragmentFromText(fragmentToText(fragment))).toEqual(fragment);
  });

  it('hold only edges between their nodes', () => {
    expect(fragmentOf(GRAPH, ['b']).edges).toEqual({});
  });

  it.each(['', 'hello', '{"nodes": {}}', '[1]', 'null'])(
    'are not any other text: %p',
    text => expect(fragmentFromText(text)).toBeNull()
  );

  it('leave out what is broken', () => {
    const fragment = fragmentFromText(
      JSON.stringify({
        labdl: 'graph-fragment',
        nodes: { a: GRAPH.nodes.a, b: 3 },
        edges: GRAPH.edges,
        positions: { a: ['x', 1] }
      })
    );
    expect(fragment).toEqual({
      nodes: { a: GRAPH.nodes.a },
      edges: {},
      positions: {},
      groups: {}
    });
  });
});

describe('the palette', () => {
  const layer = (type: string, category: string, summary: string) =>
    ({ type, label: type, category, summary, palette: true }) as LayerSchema;
  const layers = [
    layer('AvgPool', 'pooling', 'Averages windows.'),
    layer('Conv', 'convolution', 'Slides filters.'),
    layer('PoolAll', 'pooling', 'One number.'),
    { ...layer('ops.mean', 'operator', 'Averages.'), palette: false }
  ];
  const found = (query: string) =>
    paletteGroups(layers, query).flatMap(group =>
      group.layers.map(each => each.type)
    );

  it('searches type, category and summary', () => {
    expect(found('')).toEqual(['AvgPool', 'PoolAll', 'Conv']);
    expect(found('slides')).toEqual(['Conv']);
    expect(found('CONVOLUTION')).toEqual(['Conv']);
    expect(found('pooling number')).toEqual(['PoolAll']);
    expect(found('zzz')).toEqual([]);
  });

  it('puts the best match first', () => {
    expect(found('pool')).toEqual(['PoolAll', 'AvgPool']);
    // in any category
    const mention = layer('Blur', 'any', 'A kind of conv.');
    const longer = layer('ConvTranspose', 'any', '');
    const groups = paletteGroups([mention, longer, ...layers], 'conv');
    expect(groups.map(group => group.category)).toEqual(['convolution', 'any']);
    expect(groups[1].layers).toEqual([longer, mention]);
  });
});

describe('the selection', () => {
  it('tells of changes only', () => {
    const store = new SelectionStore();
    const listener = jest.fn();
    store.subscribe(listener);
    store.set(['a', 'b']);
    store.set(['b', 'a']);
    store.change('nodes', new Map([['a', false]]));
    store.change('edges', new Map([['e', true]]));
    expect(listener).toHaveBeenCalledTimes(3);
    expect([...store.state().nodes]).toEqual(['b']);
    expect([...store.state().edges]).toEqual(['e']);
  });
});

describe('keys', () => {
  const press = (key: string, more = {}) => {
    const done: string[] = [];
    const actions = new Proxy({} as EditorActions, {
      get: (_, name) => () => done.push(String(name))
    });
    const none = {
      ctrlKey: false,
      metaKey: false,
      shiftKey: false,
      altKey: false
    };
    const handled = runKey({ key, ...none, ...more }, actions);
    return handled ? done[0] : null;
  };

  it('run what they stand for', () => {
    expect(press('z', { ctrlKey: true })).toBe('undo');
    expect(press('Z', { metaKey: true, shiftKey: true })).toBe('redo');
    expect(press('y', { ctrlKey: true })).toBe('redo');
    expect(press('A', { shiftKey: true })).toBe('openMenu');
    expect(press('Backspace')).toBe('deleteSelection');
    expect(press('?', { shiftKey: true })).toBe('showShortcuts');
    expect(press('Escape')).toBe('escape');
    expect(press('z')).toBeNull();
    expect(press('s', { ctrlKey: true })).toBeNull();
  });

  it('are the shortcuts in the settings of JupyterLab', () => {
    const editor = '.labdl-GraphPanel .labdl-editor:not([data-typing])';
    expect(schema['jupyter.lab.shortcuts']).toEqual(
      SHORTCUTS.flatMap(({ command, keys, isEverywhere }) =>
        keys.map(key => ({
          command: `labdl:${command}`,
          keys: [key],
          selector: isEverywhere ? editor : `${editor} .labdl-canvas`
        }))
      )
    );
  });
});

describe('the drawn nodes', () => {
  const view: View = {
    whole: GRAPH,
    scene: sceneOf(GRAPH, new Map(), ''),
    graph: GRAPH,
    places: GRAPH.positions,
    layers: new Map(),
    selected: { nodes: new Set(), edges: new Set() },
    direction: 'down'
  };
  const byId = (nodes: ReturnType<typeof flowNodes>) =>
    new Map(nodes.map(node => [node.id, node]));

  it('stay the same objects unless they changed', () => {
    const before = flowNodes(view, new Map());
    const selected = { nodes: new Set(['a']), edges: new Set<string>() };
    const after = flowNodes({ ...view, selected }, byId(before));
    expect(after[0]).not.toBe(before[0]);
    expect(after[0].data).toBe(before[0].data);
    expect(after[1]).toBe(before[1]);
  });

  it('are not pulled from under the pointer', () => {
    const [first, second] = flowNodes(view, new Map());
    const held = { ...first, dragging: true, position: { x: 7, y: 7 } };
    const places = { ...view.places, a: [50, 50] as [number, number] };
    const after = flowNodes({ ...view, places }, byId([held, second]));
    expect(after[0].position).toEqual({ x: 7, y: 7 });
  });
});
