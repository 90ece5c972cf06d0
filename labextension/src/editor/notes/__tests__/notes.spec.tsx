// Tests of notes: data, gestures, and editing on the canvas.
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import * as Y from 'yjs';

import { GraphDocument } from '../..';
import { collapseBlock, expandBlock } from '../../blocks/collapse';
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
  repeatBlock,
  ungroupBlock
} from '../../blocks/grouping';
import { NODE_SIZE } from '../../canvas/node-size';
import { SELECTION_COMMANDS } from '../../commands/selection-commands';
import { GraphData, LayerSchema, NoteData } from '../../model/graph-data';
import { placeScene } from '../../canvas/scene-places';
import { isNote, LONGEST, noteAround, visibleNotes } from '../notes';
import { sceneOf } from '../../canvas/scene';
import { openEditor } from '../../__tests__/opening';

const LAYER: LayerSchema = {
  type: 'Linear',
  label: 'Linear',
  category: 'All',
  summary: '',
  palette: true,
  inputs: [{ name: 'x', variadic: false, optional: false }],
  outputs: [{ name: 'output' }],
  schema: {}
};
const LAYERS = new Map([[LAYER.type, LAYER]]);
const [SELECT_ALL] = SELECTION_COMMANDS;

const note = (values: Partial<NoteData> = {}): NoteData => ({
  text: 'why?',
  home: '',
  color: 'blue',
  x: 10,
  y: 20,
  width: 200,
  height: 100,
  ...values
});

/** Two layers in a block, one behind it; a note in the block and one outside of all blocks. */
const GRAPH: GraphData = {
  version: 2,
  name: 'net',
  nodes: {
    a: { type: 'Linear', name: 'enc/a', params: {} },
    b: { type: 'Linear', name: 'enc/b', params: {} },
    c: { type: 'Linear', name: 'head', params: {} }
  },
  edges: {
    e1: { source: 'a', source_port: 'output', target: 'b', target_port: 'x' },
    e2: { source: 'b', source_port: 'output', target: 'c', target_port: 'x' }
  },
  positions: { a: [0, 0], b: [0, 120], c: [0, 300] },
  groups: { enc: 'Encoder' },
  ties: {},
  notes: {
    inner: note({ home: 'enc', x: 260, y: 10 }),
    outer: note({ x: 600, y: 320 })
  }
};

const shown = (graph: GraphData, within = '') =>
  Object.keys(visibleNotes(graph, sceneOf(graph, LAYERS, within)));

const drawing = (graph: GraphData) => {
  const scene = sceneOf(graph, LAYERS, '');
  return {
    graph,
    scene,
    layers: LAYERS,
    places: placeScene(scene, 'down'),
    direction: 'down' as const,
    sizeOf: () => NODE_SIZE
  };
};

function documentOf(graph: GraphData): GraphDocument {
  const document = new GraphDocument(new Y.Doc());
  document.load(graph);
  return document;
}

describe('in the document', () => {
  it('come back as they were loaded, and are missing where there are none', () => {
    const document = documentOf(GRAPH);
    expect(document.snapshot()).toEqual(GRAPH);
    const { notes: _, ...bare } = GRAPH;
    document.load(bare);
    expect('notes' in document.snapshot()).toBe(false);
  });

  it('move with nodes in one step, and go with them', () => {
    const document = documentOf(GRAPH);
    document.move({ c: [5, 6], outer: [7, 8] });
    expect(document.snapshot().notes?.outer).toMatchObject({ x: 7, y: 8 });
    expect('outer' in document.snapshot().positions).toBe(false);
    document.undo();
    expect(document.snapshot()).toEqual(GRAPH);
    document.remove(['c', 'outer']);
    expect(Object.keys(document.snapshot().notes ?? {})).toEqual(['inner']);
  });

  it('keep a table that did not change the same object', () => {
    const document = documentOf(GRAPH);
    const { notes } = document.snapshot();
    document.setParam('a', 'k', 1);
    expect(document.snapshot().notes).toBe(notes);
  });

  it('leave out what another program wrote and nobody could draw or save', () => {
    const ydoc = new Y.Doc();
    const document = new GraphDocument(ydoc);
    document.load(GRAPH);
    for (const [id, wrong] of [
      ['x', { ...note(), width: Infinity }],
      ['y', { ...note(), text: 7 }],
      ['z', { ...note(), color: 'url(x)' }],
      ['v', { ...note(), home: '../a' }]
    ] as const) {
      ydoc.getMap('notes').set(id, new Y.Map(Object.entries(wrong)));
    }
    ydoc.getMap('notes').set('w', 'text');
    expect(document.snapshot()).toEqual(GRAPH);
    expect(isNote(note({ text: 'x'.repeat(LONGEST + 1) }))).toBe(false);
  });
});

describe('and blocks', () => {
  it('are shown where their block is open or entered', () => {
    expect(shown(GRAPH)).toEqual(['inner', 'outer']);
    expect(shown(GRAPH, 'enc')).toEqual(['inner']);
    const closed = {
      ...GRAPH,
      positions: { ...GRAPH.positions, 'enc/': [0, 0] as [number, number] }
    };
    expect(shown(closed)).toEqual(['outer']);
  });

  it('stand around a block that is gone', () => {
    const { c } = GRAPH.nodes;
    expect(shown({ ...GRAPH, nodes: { c }, edges: {} })).toEqual([
      'inner',
      'outer'
    ]);
  });

  it('follow its name, and stay when it is taken apart', () => {
    const named = applyChange(GRAPH, renameBlock(GRAPH, 'enc', 'encoder'));
    expect(named.notes?.inner.home).toBe('encoder');
    const apart = applyChange(GRAPH, ungroupBlock(GRAPH, 'enc'));
    expect(apart.notes?.inner.home).toBe('');
    expect(apart.notes?.outer).toEqual(GRAPH.notes?.outer);
  });

  it('come back to their place beside the layers when it is opened again', () => {
    const closed = applyChange(GRAPH, collapseBlock('enc', drawing(GRAPH)));
    expect(closed.notes?.outer.y).toBeLessThan(320); // moved up with the layer beside it
    expect(closed.notes?.outer.y).toBe(320 + (closed.positions.c[1] - 300));
    const open = applyChange(closed, expandBlock('enc', drawing(closed)));
    expect(open.notes?.outer).toEqual(GRAPH.notes?.outer);
    const apart = (graph: GraphData) => [
      (graph.notes?.inner.x ?? 0) - graph.positions.a[0],
      (graph.notes?.inner.y ?? 0) - graph.positions.a[1]
    ];
    expect(apart(open)).toEqual(apart(GRAPH));
  });

  it('are repeated with it', () => {
    const three = applyChange(
      GRAPH,
      repeatBlock(GRAPH, 'enc', 3, [0, 80], () => 'output')
    );
    const homes = Object.values(three.notes ?? {}).map(({ home }) => home);
    expect(homes.sort()).toEqual(['', 'enc/0', 'enc/1', 'enc/2']);
  });
});

describe('on the clipboard', () => {
  it('go with the layers, and alone', () => {
    const text = fragmentToText(fragmentOf(GRAPH, ['c', 'outer']));
    const fragment = fragmentFromText(text);
    const { change, ids } = pasteFragment(
      fragment as Fragment,
      GRAPH,
      'enc',
      [40, 40]
    );
    const id = ids.get('outer') as string;
    expect(change.notes).toEqual({
      [id]: { ...GRAPH.notes?.outer, home: 'enc', x: 640, y: 360 }
    });
    expect(Object.keys(fragmentOf(GRAPH, ['outer']).nodes)).toEqual([]);
  });

  it('of a whole block come with it and take its new name', () => {
    const fragment = fragmentOf(GRAPH, ['a', 'b']);
    expect(Object.keys(fragment.notes ?? {})).toEqual(['inner']);
    const { change } = pasteFragment(fragment, GRAPH, '', [0, 0]);
    expect(Object.values(change.notes ?? {})).toMatchObject([
      { home: 'enc_1' }
    ]);
  });

  it('are not read where they are broken', () => {
    const text = JSON.stringify({
      labdl: 'graph-fragment',
      nodes: {},
      notes: { good: note(), bad: { ...note(), x: null }, ugly: 7 }
    });
    expect(Object.keys(fragmentFromText(text)?.notes ?? {})).toEqual(['good']);
  });
});

it('around rectangles leaves room for a line', () => {
  const frame = noteAround([{ x: 0, y: 0, width: 100, height: 50 }], '');
  expect(frame).toMatchObject({ x: -24, y: -52, width: 148, height: 126 });
  expect(noteAround([], '')).toBeNull();
});

describe('on the canvas', () => {
  const open = (graph: GraphData) =>
    openEditor({ layers: () => Promise.resolve([LAYER]) }, documentOf(graph));
  const field = () => screen.queryByLabelText('Text of the note');
  const textsOf = (document: GraphDocument) =>
    Object.values(document.snapshot().notes ?? {}).map(({ text }) => text);
  const BARE = { ...GRAPH, notes: {} };

  afterEach(cleanup);

  it('are added and written as one step', async () => {
    const { document } = await open(BARE);
    fireEvent.click(screen.getByLabelText('Add a note (Shift+N)'));
    expect(document.canUndo()).toBe(true);
    expect(window.document.activeElement).toBe(field());
    fireEvent.change(field() as HTMLElement, { target: { value: 'two\nl' } });
    fireEvent.change(field() as HTMLElement, {
      target: { value: 'two\nlines' }
    });
    fireEvent.keyDown(field() as HTMLElement, { key: 'Escape' });
    expect(field()).toBeNull();
    expect(textsOf(document)).toEqual(['two\nlines']);
    act(() => document.undo());
    expect(textsOf(document)).toEqual([]);
    act(() => document.redo());
    expect(textsOf(document)).toEqual(['two\nlines']);
  });

  it('are written anew by Enter and by a double-click, one step each', async () => {
    const { document } = await open(GRAPH);
    const element = screen.getByLabelText('Note: why?', {
      selector: '[data-id=outer]'
    });
    fireEvent.keyDown(element, { key: 'Enter' });
    for (const value of ['b', 'be', 'bec']) {
      fireEvent.change(field() as HTMLElement, { target: { value } });
    }
    fireEvent.blur(field() as HTMLElement);
    fireEvent.doubleClick(element);
    fireEvent.change(field() as HTMLElement, { target: { value: 'because' } });
    fireEvent.blur(field() as HTMLElement);
    expect(document.snapshot().notes?.outer.text).toBe('because');
    act(() => document.undo());
    expect(document.snapshot().notes?.outer.text).toBe('bec');
    act(() => document.undo());
    expect(document.snapshot().notes?.outer.text).toBe('why?');
  });

  it('are selected, aligned, duplicated, cut and deleted as layers are', async () => {
    const { document, actions } = await open(GRAPH);
    act(() => actions.select(SELECT_ALL));
    expect(actions.selectedNotes()).toEqual(['inner', 'outer']);
    act(() => actions.align('left'));
    expect(document.snapshot().notes?.outer.x).toBe(0);
    expect(document.snapshot().notes?.inner.x).toBe(0);
    act(() => document.undo());
    act(() => actions.selectNodes([]));
    fireEvent.click(
      screen.getByLabelText('Note: why?', { selector: '[data-id=outer]' })
    );
    expect(actions.selectedNotes()).toEqual(['outer']);
    act(() => actions.duplicate());
    expect(textsOf(document)).toHaveLength(3);
    act(() => actions.deleteSelection());
    expect(textsOf(document)).toHaveLength(2);
    fireEvent.click(
      screen.getByLabelText('Note: why?', { selector: '[data-id=outer]' })
    );
    await act(() => actions.cut());
    expect(Object.keys(document.snapshot().notes ?? {})).toEqual(['inner']);
    await act(() => actions.paste());
    expect(textsOf(document)).toHaveLength(2);
    expect(document.snapshot().nodes).toEqual(GRAPH.nodes);
  });

  it('take a color and a size in the inspector', async () => {
    const { document } = await open(GRAPH);
    fireEvent.click(
      screen.getByLabelText('Note: why?', { selector: '[data-id=outer]' })
    );
    fireEvent.click(screen.getAllByLabelText('Green').pop() as HTMLElement);
    fireEvent.change(screen.getByLabelText('Width'), {
      target: { value: '3' }
    });
    expect(document.snapshot().notes?.outer).toMatchObject({
      color: 'green',
      width: 200
    });
    fireEvent.change(screen.getByLabelText('Width'), {
      target: { value: '340' }
    });
    expect(document.snapshot().notes?.outer.width).toBe(340);
    fireEvent.change(screen.getByLabelText('Text'), {
      target: { value: 'so' }
    });
    expect(document.snapshot().notes?.outer.text).toBe('so');
  });

  it('can frame layers, in the block of these', async () => {
    const { document, actions } = await open(BARE);
    act(() => actions.selectNodes(['a', 'b']));
    act(() => actions.frameSelection());
    const [frame] = Object.values(document.snapshot().notes ?? {});
    expect(frame).toMatchObject({ home: 'enc', x: -24, y: -52 });
  });

  it('cannot be added or written where the document is locked', async () => {
    const { document, actions } = await open(GRAPH);
    act(() => document.lock.setReason('test', 'Not now.'));
    act(() => actions.addNote());
    fireEvent.doubleClick(
      screen.getByLabelText('Note: why?', { selector: '[data-id=outer]' })
    );
    expect(field()).toBeNull();
    expect(document.snapshot()).toEqual(GRAPH);
  });
});
