// Tests of locked documents: no edits, and the displayed reason.
import * as Y from 'yjs';

import { GraphDocument } from '../document';
import { LockStore } from '../lock';
import { GraphData, LayerTable } from '../graph-data';

const GRAPH: GraphData = {
  version: 2,
  name: 'net',
  nodes: {
    a: { type: 'Input', name: 'input', params: { shape: [null, 8] } },
    b: { type: 'acme.Scale', name: 'scale', params: {} },
    c: { type: 'acme.Scale', name: 'again', params: {} }
  },
  edges: {
    e: { source: 'a', source_port: 'output', target: 'b', target_port: 'x' }
  },
  positions: { a: [0, 0], b: [0, 120], c: [0, 240] }
};

const layers = (...types: string[]): LayerTable =>
  new Map(types.map(type => [type, { type } as never]));

function opened(): GraphDocument {
  const document = new GraphDocument(new Y.Doc());
  document.load(GRAPH);
  return document;
}

test('no gesture changes a document with a reason against it, and loading does', () => {
  const document = opened();
  document.setParam('b', 'factor', 2);
  const before = document.snapshot();
  let calls = 0;
  const stop = document.subscribeHistory(() => calls++);
  document.lock.setReason('test', 'It is so.');
  expect(calls).toBe(1);
  expect(document.canUndo()).toBe(false);
  const gestures = [
    () => document.addNode({ type: 'ReLU', position: [0, 0] }),
    () => document.remove(['a'], ['e']),
    () => document.move({ a: [5, 5] }),
    () => document.setParam('b', 'factor', 3, 'typing'),
    () => document.rename('a', 'other'),
    () => document.renameModel('other'),
    () => document.load({ ...GRAPH, name: 'other' }, { undoable: true }),
    () => document.undo(),
    () => document.redo()
  ];
  for (const gesture of gestures) {
    gesture();
    expect(document.snapshot()).toBe(before);
  }
  document.load({ ...GRAPH, name: 'from the file' });
  expect(document.snapshot().name).toBe('from the file');

  document.lock.setReason('test', '');
  expect(document.canUndo()).toBe(true);
  document.renameModel('mine');
  expect(document.snapshot().name).toBe('mine');
  stop();
});

test('unknown layers lock until they are known or a person wants it so', () => {
  const lock = new LockStore();
  lock.compare(GRAPH, layers('Input'));
  expect(lock.state()).toEqual({ kind: 'layers', types: ['acme.Scale'] });
  lock.compare(GRAPH, layers('Input', 'acme.Scale'));
  expect(lock.state()).toBeNull();

  lock.compare(GRAPH, layers('Input'));
  expect(lock.state()).toBeNull(); // a pasted unknown layer does not lock the document

  const other = new LockStore();
  other.compare(GRAPH, layers('Input'));
  other.editAnyway();
  expect(other.state()).toBeNull();
  other.compare(GRAPH, layers('Input'));
  expect(other.state()).toBeNull();
});

test('a reason of the host cannot be put aside, and several hold until the last is gone', () => {
  const lock = new LockStore();
  let calls = 0;
  lock.subscribe(() => calls++);
  lock.compare(GRAPH, layers('Input'));
  lock.setReason('format', 'It is newer.');
  lock.setReason('disk', 'It is protected.');
  lock.editAnyway();
  expect(lock.state()).toEqual({ kind: 'host', reason: 'It is newer.' });
  lock.setReason('format', '');
  expect(lock.state()).toEqual({ kind: 'host', reason: 'It is protected.' });
  lock.setReason('disk', '');
  expect(lock.state()).toBeNull();
  expect(calls).toBe(4);
});
