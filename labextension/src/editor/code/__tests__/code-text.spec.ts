// Tests of synchronization between canvas and code, and of conflicts between both.
import * as Y from 'yjs';

import { Reading } from '../source-editor';
import { CodeText } from '../code-text';
import { GraphDocument } from '../../model/document';
import { GraphData } from '../../model/graph-data';

const GRAPH: GraphData = {
  version: 2,
  name: 'net',
  nodes: { a: { type: 'Linear', name: 'a', params: { out_features: 3 } } },
  edges: {},
  positions: { a: [10, 20] }
};

const withNode = (name: string): GraphData => ({
  ...GRAPH,
  nodes: { ...GRAPH.nodes, b: { type: 'ReLU', name, params: {} } }
});

function open(read: (source: string, graph: GraphData) => Promise<Reading>) {
  const document = new GraphDocument(new Y.Doc());
  document.load(GRAPH);
  const asked: string[] = [];
  const code = new CodeText(
    document,
    {
      code: graph =>
        Promise.resolve(
          Object.values(graph.nodes)
            .map(node => node.name)
            .join(' ')
        ),
      read: (source, graph) => {
        asked.push(source);
        return read(source, graph as GraphData);
      }
    },
    { read: 600, write: 150 }
  );
  const stop = code.start();
  return { document, code, asked, stop };
}

const found = (graph: GraphData) => Promise.resolve({ graph, problem: null });
const refused = (line: number) =>
  Promise.resolve({ graph: null, problem: { message: 'no', line } });
const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('CodeText', () => {
  it('follows the canvas, but not what only moves', async () => {
    const { document, code, stop } = open(() => refused(1));
    await pass(0);
    expect(code.state()).toMatchObject({ text: 'a', state: 'agreed' });
    document.rename('a', 'first');
    await pass(200);
    expect(code.state().text).toBe('first');
    const before = code.state();
    document.move({ a: [0, 0] });
    await pass(1000);
    expect(code.state()).toBe(before);
    stop();
    document.rename('a', 'second');
    await pass(1000);
    expect(code.state()).toBe(before);
  });

  it('puts what a person wrote onto the canvas as one undo step, and leaves the text alone', async () => {
    const { document, code, asked } = open(() => found(withNode('b')));
    await pass(0);
    code.edit('a  b');
    await pass(300);
    code.edit('a  b # mine');
    await pass(599);
    expect(asked).toEqual([]);
    await pass(1);
    expect(asked).toEqual(['a  b # mine']);
    expect(document.snapshot()).toEqual(withNode('b'));
    expect(code.state()).toMatchObject({
      text: 'a  b # mine',
      state: 'agreed'
    });
    await pass(1000);
    expect(code.state().text).toBe('a  b # mine');
    document.undo();
    expect(document.snapshot()).toEqual(GRAPH);
    await pass(200);
    expect(code.state().text).toBe('a');
    expect(document.canUndo()).toBe(false);
  });

  it('keeps text that cannot be read, and the canvas, until a person takes it back', async () => {
    const { document, code } = open(() => refused(3));
    await pass(0);
    code.edit('a b(');
    await pass(600);
    expect(code.state()).toEqual({
      text: 'a b(',
      state: 'unreadable',
      message: 'no',
      line: 3
    });
    expect(document.snapshot()).toEqual(GRAPH);
    document.rename('a', 'first');
    await pass(1000);
    expect(code.state().text).toBe('a b(');
    code.takeBack();
    await pass(0);
    expect(code.state()).toEqual({
      text: 'first',
      state: 'agreed',
      message: '',
      line: null
    });
  });

  it('reads again when the canvas changed meanwhile, and drops answers to older text', async () => {
    const answers: ((reading: Reading) => void)[] = [];
    const { document, code, asked } = open(
      () => new Promise(resolve => answers.push(resolve))
    );
    await pass(0);
    code.edit('one');
    await pass(600);
    document.rename('a', 'elsewhere');
    answers[0]({ graph: withNode('b'), problem: null });
    await pass(0);
    expect(asked).toEqual(['one', 'one']);
    expect(document.snapshot().nodes.b).toBeUndefined();
    code.edit('two');
    answers[1]({ graph: withNode('b'), problem: null });
    await pass(0);
    expect(document.snapshot().nodes.b).toBeUndefined();
    expect(code.state()).toMatchObject({ text: 'two', state: 'edited' });
  });

  it('says what went wrong on the way', async () => {
    const { code } = open(() => Promise.reject(new Error('no server')));
    await pass(0);
    code.edit('b');
    await pass(600);
    expect(code.state()).toMatchObject({
      state: 'unreadable',
      message: 'no server'
    });
  });
});
