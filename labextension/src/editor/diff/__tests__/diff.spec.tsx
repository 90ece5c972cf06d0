// Tests of comparing two models: common layout, folded blocks, descriptions and the view.
import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  within
} from '@testing-library/react';

import { DiffView, plainTranslator } from '../..';
import { changesOf, marksOf } from '../diff-changes';
import { Difference, unionOf } from '../diff-data';
import { diffLayout, diffScene } from '../diff-layout';
import { followSelection } from '../diff-selection';
import {
  LayoutRequest,
  Places,
  placesInRow
} from '../../canvas/layout-request';
import { GraphData, LayerSchema } from '../../model/graph-data';
import { SelectionStore } from '../../model/selection';
import '../../__tests__/opening';

const LAYERS: LayerSchema[] = ['Source', 'Filter'].map((type, at) => ({
  type,
  label: type,
  category: 'any',
  summary: '',
  palette: true,
  inputs: at ? [{ name: 'x', variadic: false, optional: false }] : [],
  outputs: [{ name: 'out' }],
  schema: { properties: {} }
}));
const TABLE = new Map(LAYERS.map(layer => [layer.type, layer]));

/** Layers in sequence: the first is an input, the names may be paths. */
function row(names: string[], ids = names): GraphData {
  return {
    version: 2,
    name: 'net',
    nodes: Object.fromEntries(
      names.map((name, at) => [
        ids[at],
        { type: at ? 'Filter' : 'Source', name, params: {} }
      ])
    ),
    edges: Object.fromEntries(
      names.slice(1).map((_, at) => [
        `${ids[at]}>${ids[at + 1]}`,
        {
          source: ids[at],
          source_port: 'out',
          target: ids[at + 1],
          target_port: 'x'
        }
      ])
    ),
    positions: {},
    groups: {}
  };
}

const NONE: Difference = {
  same: {},
  removed: [],
  removed_edges: [],
  added: [],
  added_edges: [],
  changed: [],
  renamed: [],
  name: null,
  classes: {},
  ties: {}
};

// "b" is only in the old one, "d" only in the new one, "c" has other settings and another id
const OLD = row(['a', 'b', 'c']);
const NEW = row(['a', 'c', 'd'], ['a', 'c2', 'd']);
const FOUND: Difference = {
  ...NONE,
  same: { a: 'a', c: 'c2' },
  removed: ['b'],
  removed_edges: ['a>b', 'b>c'],
  added: ['d'],
  added_edges: ['a>c2', 'c2>d'],
  changed: [
    { old: 'c', new: 'c2', settings: { size: [3, 5], mode: [null, 'same'] } }
  ]
};

/** Layout of a host that puts all nodes in one row, behind those in `placed`. */
function jointLayout(
  old: GraphData,
  next: GraphData,
  difference: Difference,
  placed: Places = {}
) {
  const joint = diffScene(old, next, difference, TABLE, new Set());
  const places = { ...placesInRow(joint.request), ...placed };
  return diffLayout(old, next, joint, places);
}

afterEach(cleanup);

it('makes one graph of both', () => {
  const { graph, idOf, marks } = unionOf(OLD, NEW, FOUND);
  expect(Object.keys(graph.nodes).sort()).toEqual(
    ['a', 'c2', 'd', idOf('b')].sort()
  );
  expect(idOf('c')).toBe('c2');
  expect([...marks.entries()].sort()).toEqual(
    [
      ['c2', 'changed'],
      ['d', 'added'],
      [idOf('b'), 'removed']
    ].sort()
  );
  expect(Object.values(graph.edges)).toHaveLength(4);

  // an id of the new graph that looks like one of the union
  const clash = row(['a', 'x'], ['a', 'old:b']);
  const found = {
    ...NONE,
    same: { a: 'a' },
    removed: ['b', 'c'],
    added: ['old:b']
  };
  expect(Object.keys(unionOf(OLD, clash, found).graph.nodes)).toHaveLength(4);
});

it('puts what is the same at the same place, and leaves room for what is not', () => {
  const layout = jointLayout(OLD, NEW, FOUND);
  expect(layout.old.positions.a).toEqual(layout.new.positions.a);
  expect(layout.old.positions.c).toEqual(layout.new.positions.c2);
  expect(Object.keys(layout.old.positions).sort()).toEqual(['a', 'b', 'c']);
  expect(layout.request.edges).toContainEqual([layout.union.idOf('b'), 'c2']);
  expect(layout.sizeOf('c2').height).toBeGreaterThan(layout.sizeOf('a').height);
});

describe('of many layers', () => {
  const names = (block: string) => [0, 1, 2, 3, 4].map(n => `${block}/l${n}`);
  const blocks = ['s/0', 's/1', 's/2', 's/3', 's/4', 's/5', 's/6', 't', 'u'];
  const old = {
    ...row(['in', ...blocks.flatMap(names)]),
    groups: { s: 'ModuleList' }
  };
  const next = {
    ...row(['in', ...[...blocks, 'v'].flatMap(names)]),
    groups: { s: 'ModuleList' }
  };
  const found = (more: Partial<Difference> = {}): Difference => ({
    ...NONE,
    same: Object.fromEntries(Object.keys(old.nodes).map(id => [id, id])),
    added: names('v'),
    added_edges: Object.keys(next.edges).filter(id => id.includes('v/')),
    ...more
  });
  const drawnNames = (difference: Difference, toggled: string[] = []) =>
    Object.keys(
      diffScene(old, next, difference, TABLE, new Set(toggled)).scene.graph
        .nodes
    );

  it('folds blocks in which nothing differs, and those that are new', () => {
    expect(drawnNames(found())).toEqual([
      'in',
      ...blocks.map(b => `${b}/`),
      'v/'
    ]);
  });

  it('opens what differs inside, and what a person opens', () => {
    const changed = [
      {
        old: 's/1/l2',
        new: 's/1/l2',
        settings: { size: [1, 2] as [number, number] }
      }
    ];
    const opened = drawnNames(found({ changed }));
    expect(opened).toContain('s/1/l2');
    expect(opened).toContain('s/0/');
    expect(drawnNames(found(), ['t'])).toContain('t/l0');
    expect(drawnNames(found({ changed }), ['s/1'])).toContain('s/1/');
  });

  it('opens a block in which a connection differs, not those around', () => {
    const within = drawnNames(found({ removed_edges: ['t/l0>t/l1'] }));
    expect(within).toContain('t/l0');
    const between = drawnNames(found({ removed_edges: ['t/l4>u/l0'] }));
    expect(between).toContain('t/');
  });

  it('says of a block what became of all of it', () => {
    const difference = found();
    const layout = jointLayout(old, next, difference);
    const changes = changesOf(old, next, difference, layout, plainTranslator);
    expect(changes).toEqual([
      { kind: 'added', title: 'v', words: '5 layers added', drawn: 'v/' }
    ]);
  });
});

it('says in words what differs, from top to bottom', () => {
  const renamed: Difference = {
    ...FOUND,
    renamed: [['a', 'a']],
    name: ['net', 'web'],
    ties: { 'c/w:0': [null, 'a/w:0'] }
  };
  const { idOf } = unionOf(OLD, NEW, renamed);
  const layout = jointLayout(OLD, NEW, renamed, {
    a: [0, -9],
    [idOf('b')]: [0, -5]
  });
  const changes = changesOf(OLD, NEW, renamed, layout, plainTranslator);
  expect(changes.map(({ kind, title, words }) => [kind, title, words])).toEqual(
    [
      ['changed', 'Model', 'name: net → web'],
      ['changed', 'c/w:0', 'tied to: nothing → a/w:0'],
      ['renamed', 'a', 'was a'],
      ['removed', 'b', 'removed'],
      ['changed', 'c', 'size: 3 → 5, mode: nothing → same'],
      ['added', 'a → c', 'connection added'],
      ['added', 'd', 'added']
    ]
  );
});

it('marks each side with what it has', () => {
  const [old, next] = (['old', 'new'] as const).map(side =>
    marksOf(side, OLD, NEW, FOUND, plainTranslator)
  );
  expect(Object.fromEntries(old.nodes)).toEqual({
    b: { kind: 'removed', words: 'removed' },
    c: { kind: 'changed', words: 'size: 3 → 5, mode: nothing → same' }
  });
  expect([...next.nodes.keys()].sort()).toEqual(['c2', 'd']);
  expect([...old.edges.entries()]).toEqual([
    ['a>b', 'removed'],
    ['b>c', 'removed']
  ]);
});

it('selects on both sides what both have', () => {
  const selections = { old: new SelectionStore(), new: new SelectionStore() };
  const stop = followSelection(selections, FOUND);
  selections.old.set(['c']);
  expect([...selections.new.state().nodes]).toEqual(['c2']);
  selections.new.set(['d']);
  expect([...selections.old.state().nodes]).toEqual(['c']);
  stop();
  selections.old.set(['a']);
  expect([...selections.new.state().nodes]).toEqual(['d']);
});

describe('the view', () => {
  const COSTS = { parameters: 1, operations: 2, memory: 3 };
  const host = (difference: () => Promise<Difference>) => ({
    layers: () => Promise.resolve(LAYERS),
    layout: (request: LayoutRequest) => Promise.resolve(placesInRow(request)),
    code: () => Promise.resolve(''),
    read: () => Promise.resolve({ graph: null, problem: null }),
    check: (graph: GraphData) =>
      Promise.resolve({
        nodes: {},
        ...COSTS,
        parameters: Object.keys(graph.nodes).length * 1000,
        problems: []
      }),
    difference
  });
  const show = async (
    difference: () => Promise<Difference>,
    old = OLD,
    next = NEW
  ) => {
    await act(async () => {
      render(
        <DiffView
          old={{ title: 'a.labdl', caption: 'x/a.labdl', graph: old }}
          new={{ title: 'b.labdl', caption: 'b.labdl', graph: next }}
          host={host(difference)}
          trans={plainTranslator}
        />
      );
    });
  };

  it('shows two canvases and a list that is walked with F8', async () => {
    const more = row(['a', 'b', 'c', 'd']);
    await show(
      () =>
        Promise.resolve({
          ...NONE,
          same: { a: 'a', b: 'b', c: 'c' },
          added: ['d'],
          added_edges: ['c>d'],
          classes: { p: ['A', 'B'] }
        }),
      OLD,
      more
    );
    expect(
      screen.getByRole('region', { name: 'Before: a.labdl' })
    ).toBeTruthy();
    expect(screen.getByRole('region', { name: 'After: b.labdl' })).toBeTruthy();
    const list = screen.getByRole('listbox', { name: 'Differences' });
    const chosen = () =>
      within(list)
        .getAllByRole('option')
        .findIndex(option => option.getAttribute('aria-selected') === 'true');
    expect(within(list).getAllByRole('option')).toHaveLength(2);
    expect(chosen()).toBe(-1);
    const steps: [object, number][] = [
      [{ key: 'F8' }, 0],
      [{ key: 'F8' }, 1],
      [{ key: 'F8' }, 0],
      [{ key: 'F8', shiftKey: true }, 1],
      [{ key: 'ArrowUp' }, 0]
    ];
    for (const [key, index] of steps) {
      act(() => void fireEvent.keyDown(list, key));
      expect(chosen()).toBe(index);
    }
    expect(screen.getByText('3 k → 4 k')).toBeTruthy();
    expect(screen.getByText('+33 %')).toBeTruthy();
    // the canvas is read-only
    expect(screen.queryByRole('toolbar')).toBeNull();
    expect(screen.queryByLabelText('Search layers')).toBeNull();
  });

  it('says when there is no difference', async () => {
    await show(
      () => Promise.resolve({ ...NONE, same: { a: 'a', b: 'b', c: 'c' } }),
      OLD,
      OLD
    );
    expect(screen.getByText('The two models do not differ.')).toBeTruthy();
  });

  it('says why there is no arrangement, and tries again', async () => {
    let times = 0;
    const failing = {
      ...host(() => Promise.resolve(FOUND)),
      layout: (request: LayoutRequest) =>
        times++
          ? Promise.resolve(placesInRow(request))
          : Promise.reject(new Error('too many'))
    };
    await act(async () => {
      render(
        <DiffView
          old={{ title: 'a', caption: 'a', graph: OLD }}
          new={{ title: 'b', caption: 'b', graph: NEW }}
          host={failing}
          trans={plainTranslator}
        />
      );
    });
    expect(screen.getByRole('alert').textContent).toContain('too many');
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    });
    expect(screen.getByRole('listbox')).toBeTruthy();
  });

  it('says why there is no comparison, and tries again', async () => {
    let times = 0;
    await show(() =>
      times++ ? Promise.resolve(FOUND) : Promise.reject(new Error('too large'))
    );
    expect(screen.getByRole('alert').textContent).toContain('too large');
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    });
    expect(screen.getByRole('listbox')).toBeTruthy();
  });
});
