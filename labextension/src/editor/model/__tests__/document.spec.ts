// Tests of the document: each gesture is one transaction and undo step; loading writes only differences.
import * as Y from 'yjs';

import { GraphDocument } from '../document';
import { Fragment, fragmentOf, pasteFragment } from '../fragment';
import { GraphData, Position } from '../graph-data';

const GRAPH: GraphData = {
  version: 1,
  name: 'digits',
  nodes: {
    a: { type: 'In', name: 'image', params: { shape: [null, 1, 8, 8] } },
    b: { type: 'Conv', name: 'conv', params: { size: 3 } },
    c: { type: 'Sum', name: 'sum', params: {} }
  },
  edges: {
    e1: { source: 'a', source_port: 'out', target: 'b', target_port: 'x' },
    e2: { source: 'b', source_port: 'out', target: 'c', target_port: 'x' },
    e3: { source: 'a', source_port: 'out', target: 'c', target_port: 'x' }
  },
  positions: { a: [0, 0], b: [0, 100], c: [0, 200] }
};

function make(): { document: GraphDocument; ydoc: Y.Doc; steps: () => number } {
  const ydoc = new Y.Doc();
  const document = new GraphDocument(ydoc);
  document.load(GRAPH);
  return {
    document,
    ydoc,
    steps: () => document.undoManager.undoStack.length
  };
}

/** Runs a gesture and checks that it is one transaction, one step, and can be undone and redone. */
function checkGesture(gesture: (document: GraphDocument) => void): GraphData {
  const { document, steps } = make();
  const before = document.snapshot();
  let calls = 0;
  document.subscribe(() => calls++);
  gesture(document);
  const after = document.snapshot();
  expect(calls).toBe(1);
  expect(steps()).toBe(1);
  expect(after).not.toEqual(before);
  document.undo();
  expect(document.snapshot()).toEqual(before);
  document.redo();
  expect(document.snapshot()).toEqual(after);
  return after;
}

function paste(
  document: GraphDocument,
  fragment: Fragment,
  offset: Position = [0, 0]
): string[] {
  const { change, ids } = pasteFragment(
    fragment,
    document.snapshot(),
    '',
    offset
  );
  document.patch(change);
  return [...ids.values()];
}

describe('gestures', () => {
  it('adds a node with its edges', () => {
    const graph = checkGesture(document =>
      document.addNode(
        { type: 'nn.Conv', position: [5, 6] },
        { incoming: [{ source: 'b', source_port: 'out', target_port: 'x' }] }
      )
    );
    const id = Object.keys(graph.nodes)[3];
    expect(graph.nodes[id]).toEqual({
      type: 'nn.Conv',
      name: 'conv_1',
      params: {}
    });
    expect(graph.positions[id]).toEqual([5, 6]);
    expect(Object.values(graph.edges)[3]).toEqual({
      source: 'b',
      source_port: 'out',
      target: id,
      target_port: 'x'
    });
  });

  it('adds an edge in the place of another', () => {
    const graph = checkGesture(document =>
      document.addEdges(
        [{ source: 'c', source_port: 'out', target: 'b', target_port: 'x' }],
        ['e1']
      )
    );
    expect(graph.edges.e1).toBeUndefined();
    expect(Object.keys(graph.edges)).toHaveLength(3);
  });

  it('removes nodes with their edges and positions', () => {
    const graph = checkGesture(document => document.remove(['b']));
    expect(Object.keys(graph.nodes)).toEqual(['a', 'c']);
    const links = Object.values(graph.edges);
    expect(links.map(({ source, target }) => source + target)).toEqual([
      'ac', // closes the gap
      'ac'
    ]);
    expect(Object.keys(graph.positions)).toEqual(['a', 'c']);
  });

  it('keeps nodes without a place where they are shown', () => {
    const shown: { [id: string]: Position } = {
      a: [1, 1],
      b: [2, 2],
      c: [3, 3],
      gone: [4, 4]
    };
    const placed = (gesture: (document: GraphDocument) => void) => {
      const { document } = make();
      document.load({ ...GRAPH, positions: { c: [0, 200] } });
      document.shownAt = () => shown;
      gesture(document);
      const { positions } = document.snapshot();
      document.undo();
      expect(document.snapshot().positions).toEqual({ c: [0, 200] });
      return positions;
    };
    const settled = { a: [1, 1], b: [2, 2], c: [0, 200] };
    expect(placed(document => document.addEdges([]))).toEqual(settled);
    expect(placed(document => document.remove(['b']))).toEqual({
      a: [1, 1],
      c: [0, 200]
    });
    expect(
      placed(document => document.addNode({ type: 'In', position: [9, 9] }))
    ).toEqual(expect.objectContaining(settled));
    expect(
      placed(document => document.patch({ positions: { b: [7, 7], c: null } }))
    ).toEqual({ a: [1, 1], b: [7, 7] });
    // typing does not write positions
    const { document } = make();
    document.load({ ...GRAPH, positions: {} });
    document.shownAt = () => shown;
    document.setParam('b', 'size', 4);
    expect(document.snapshot().positions).toEqual({});
  });

  it('moves many nodes', () => {
    const graph = checkGesture(document =>
      document.move({ a: [1, 2], b: [3, 4], gone: [5, 6] })
    );
    expect(graph.positions).toEqual({ a: [1, 2], b: [3, 4], c: [0, 200] });
  });

  it('sets and resets a parameter', () => {
    const set = checkGesture(document =>
      document.setParam('b', 'size', [3, 5])
    );
    expect(set.nodes.b.params).toEqual({ size: [3, 5] });
    const reset = checkGesture(document =>
      document.setParam('b', 'size', undefined)
    );
    expect(reset.nodes.b.params).toEqual({});
  });

  it('renames a node and the model', () => {
    checkGesture(document => document.rename('b', 'stem'));
    checkGesture(document => document.renameModel('letters'));
  });

  it('pastes with new ids, free names and the edges inside', () => {
    const graph = checkGesture(document => {
      const ids = paste(document, fragmentOf(GRAPH, ['b', 'c']), [10, 20]);
      expect(ids).toHaveLength(2);
    });
    const names = Object.values(graph.nodes).map(node => node.name);
    expect(names).toEqual(['image', 'conv', 'sum', 'conv_1', 'sum_1']);
    expect(Object.keys(graph.edges)).toHaveLength(4);
    expect(Object.values(graph.positions)[3]).toEqual([10, 120]);
  });

  it('loads as an undo step on request only', () => {
    checkGesture(document =>
      document.load({ ...GRAPH, name: 'other' }, { undoable: true })
    );
    const { document } = make();
    expect(document.canUndo()).toBe(false);
  });
});

describe('undo steps', () => {
  it('keeps quick gestures apart', () => {
    const { document, steps } = make();
    document.move({ a: [1, 1] });
    document.move({ a: [2, 2] });
    expect(steps()).toBe(2);
  });

  it('takes typing in one field as one step, however slow', () => {
    jest.useFakeTimers({ now: 0 });
    const { document, steps } = make();
    for (const size of [1, 12, 128]) {
      document.setParam('b', 'size', size, 'b size');
      jest.setSystemTime(Date.now() + 60000);
    }
    expect(steps()).toBe(1);
    document.undo();
    expect(document.snapshot().nodes.b.params.size).toBe(3);
    jest.useRealTimers();
  });

  it('starts a new step in another field or after leaving it', () => {
    const { document, steps } = make();
    document.setParam('b', 'size', 1, 'b size');
    document.setParam('b', 'stride', 1, 'b stride');
    document.endTyping();
    document.setParam('b', 'stride', 2, 'b stride');
    expect(steps()).toBe(3);
  });

  it('tracks its own changes in a manager that the host made', () => {
    const ydoc = new Y.Doc();
    const manager = new Y.UndoManager([], {
      doc: ydoc,
      trackedOrigins: new Set(['host'])
    });
    const document = new GraphDocument(ydoc, manager);
    document.addNode({ type: 'Conv', position: [0, 0] });
    expect(manager.undoStack).toHaveLength(1);
    document.undo();
    expect(document.snapshot().nodes).toEqual({});
  });

  it("does not undo someone else's change", () => {
    const { document, ydoc } = make();
    const other = new Y.Doc();
    Y.applyUpdate(other, Y.encodeStateAsUpdate(ydoc));
    const theirs = new GraphDocument(other);
    theirs.rename('c', 'total');
    document.rename('b', 'stem');
    Y.applyUpdate(ydoc, Y.encodeStateAsUpdate(other));
    document.undo();
    expect(document.snapshot().nodes.b.name).toBe('conv');
    expect(document.snapshot().nodes.c.name).toBe('total');
  });

  it('tells when undo becomes possible', () => {
    const { document } = make();
    const listener = jest.fn();
    const stop = document.subscribeHistory(listener);
    document.rename('b', 'stem');
    expect(listener).toHaveBeenCalled();
    expect(document.canUndo()).toBe(true);
    stop();
  });
});

describe('load', () => {
  it('gives back what it was given', () => {
    const { document } = make();
    expect(document.snapshot()).toEqual(GRAPH);
    expect(Object.keys(document.snapshot().edges)).toEqual(['e1', 'e2', 'e3']);
  });

  it('changes nothing when nothing differs', () => {
    const { document, ydoc } = make();
    const before = Y.encodeStateVector(ydoc);
    const listener = jest.fn();
    document.subscribe(listener);
    document.load(JSON.parse(JSON.stringify(GRAPH)) as GraphData);
    expect(listener).not.toHaveBeenCalled();
    expect(Y.encodeStateVector(ydoc)).toEqual(before);
  });

  it('touches only what differs', () => {
    const { document } = make();
    const before = document.snapshot();
    document.load({
      ...GRAPH,
      nodes: {
        a: GRAPH.nodes.a,
        b: { ...GRAPH.nodes.b, params: { stride: 2 } },
        d: { type: 'Act', name: 'act', params: {} }
      },
      edges: { e1: GRAPH.edges.e1 },
      positions: { a: [0, 0] }
    });
    const after = document.snapshot();
    expect(after.nodes.a).toBe(before.nodes.a);
    expect(after.nodes.b.params).toEqual({ stride: 2 });
    expect(after.nodes.c).toBeUndefined();
    expect(after.nodes.d.name).toBe('act');
    expect(after.edges).toEqual({ e1: GRAPH.edges.e1 });
    expect(after.positions).toEqual({ a: [0, 0] });
  });

  it('follows a new order of the edges', () => {
    const { document } = make();
    const { e1, e2, e3 } = GRAPH.edges;
    document.load({ ...GRAPH, edges: { e3, e1, e2 } });
    expect(Object.keys(document.snapshot().edges)).toEqual(['e3', 'e1', 'e2']);
  });
});

describe('snapshot', () => {
  it('is the same object until something changes', () => {
    const { document } = make();
    const before = document.snapshot();
    expect(document.snapshot()).toBe(before);
    document.move({ a: [9, 9] });
    const after = document.snapshot();
    expect(after).not.toBe(before);
    expect(after.nodes).toBe(before.nodes);
    expect(after.positions.b).toBe(before.positions.b);
  });

  it('reads numbers that Python wrote as big integers', () => {
    const { document, ydoc } = make();
    const params = ydoc.getMap<Y.Map<unknown>>('nodes').get('b')?.get('params');
    (params as Y.Map<unknown>).set('size', [3n, 5n]);
    expect(document.snapshot().nodes.b.params.size).toEqual([3, 5]);
  });
});

describe('layers that are called again', () => {
  const SHARED: GraphData = {
    ...GRAPH,
    nodes: {
      ...GRAPH.nodes,
      d: { type: 'Conv', name: 'conv_1', params: {}, shares: 'b' },
      e: { type: 'Conv', name: 'conv_2', params: {}, shares: 'b' }
    },
    positions: { ...GRAPH.positions, d: [0, 300], e: [0, 400] },
    groups: { block: 'Block' },
    ties: { 'conv/kernel:0': 'other/kernel:0' }
  };

  function shared(): GraphDocument {
    const { document } = make();
    document.load(SHARED);
    return document;
  }

  it('come back as they were loaded, with groups and ties', () => {
    const document = shared();
    expect(document.snapshot()).toEqual(SHARED);
    document.load(GRAPH);
    expect(document.snapshot()).toEqual(GRAPH);
  });

  it('hand the settings on when their first call is removed', () => {
    const document = shared();
    document.remove(['b']);
    const { d, e } = document.snapshot().nodes;
    expect(d).toEqual({ type: 'Conv', name: 'conv_1', params: { size: 3 } });
    expect(e.shares).toBe('d');
    document.undo();
    expect(document.snapshot()).toEqual(SHARED);
  });

  it('share the copy when both are copied, else the original', () => {
    const document = shared();
    const both = fragmentOf(document.snapshot(), ['b', 'd']);
    const [first, second] = paste(document, both);
    expect(document.snapshot().nodes[second].shares).toBe(first);
    const alone = fragmentOf(document.snapshot(), ['d']);
    const [third] = paste(document, alone);
    expect(document.snapshot().nodes[third].shares).toBe('b');
  });
});
