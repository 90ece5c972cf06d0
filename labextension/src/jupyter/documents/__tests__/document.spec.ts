// Document model: serialization is lossless, and it is dirty exactly when a person has changed it.

import { YDocument } from '@jupyter/ydoc';

import type { GraphData } from '../../../editor';
import { LabDLModel } from '../document';

const GRAPH: GraphData = {
  version: 1,
  name: 'net',
  nodes: {
    a: { type: 'Input', name: 'input', params: { shape: [null, 1, 8, 8] } },
    b: { type: 'Linear', name: 'head', params: { out_features: 10 } }
  },
  edges: {
    e: { source: 'a', source_port: 'output', target: 'b', target_port: 'x' }
  },
  positions: { a: [0, 0], b: [0, 120] }
};

function opened(): LabDLModel {
  const model = new LabDLModel();
  model.fromJSON(GRAPH as never);
  model.sharedModel.clearUndoHistory();
  return model;
}

test('what was read is what is written', () => {
  const model = opened();
  expect(model.toJSON()).toEqual(GRAPH);
  expect(JSON.parse(model.toString())).toEqual(GRAPH);
});

test('a document that was just opened is clean and has nothing to undo', () => {
  const model = opened();
  expect(model.dirty).toBe(false);
  expect(model.graph.canUndo()).toBe(false);
});

test('a change, its undo and its redo make the document dirty, saving cleans it', () => {
  const model = opened();
  const states: unknown[] = [];
  model.stateChanged.connect((_sender, state) => states.push(state.newValue));
  for (const act of [
    () => model.graph.setParam('b', 'out_features', 12),
    () => model.graph.undo(),
    () => model.graph.redo()
  ]) {
    act();
    expect(model.dirty).toBe(true);
    model.dirty = false; // as JupyterLab does after saving
    expect(model.dirty).toBe(false);
  }
  expect(states).toEqual([true, false, true, false, true, false]);
});

test('a document of JupyterLab 4.4, whose YDocument knows no dirty state, has one', () => {
  const own = Object.getOwnPropertyDescriptor(YDocument.prototype, 'dirty');
  delete (YDocument.prototype as { dirty?: boolean }).dirty;
  try {
    const model = opened();
    const states: unknown[] = [];
    model.stateChanged.connect((_sender, { newValue }) =>
      states.push(newValue)
    );
    model.graph.setParam('b', 'out_features', 12);
    model.dirty = false;
    expect(states).toEqual([true, false]);
  } finally {
    Object.defineProperty(YDocument.prototype, 'dirty', own ?? {});
  }
});

test('saving is not an undo step', () => {
  const model = opened();
  model.graph.setParam('b', 'out_features', 12);
  model.dirty = false;
  model.graph.undo();
  expect(model.toJSON()).toEqual(GRAPH);
});

test('reverting to the file brings its graph and cleans the document', () => {
  const model = opened();
  let changes = 0;
  model.contentChanged.connect(() => changes++);
  model.graph.remove(['b']);
  model.fromJSON(GRAPH as never);
  expect(model.toJSON()).toEqual(GRAPH);
  expect(model.dirty).toBe(false);
  expect(changes).toBe(2);
});
