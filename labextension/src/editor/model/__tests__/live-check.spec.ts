// Tests of the live check: debounced, one at a time, no stale answers, failures shown.
import * as Y from 'yjs';

import { CheckStore } from '../check-store';
import { GraphDocument } from '../document';
import { LiveCheck } from '../live-check';
import { CheckResult, GraphData } from '../graph-data';

const result = (parameters: number, problem: string | null = null) => ({
  nodes: {
    a: { outputs: {}, parameters, operations: 0, memory: 0, problem }
  },
  parameters,
  operations: 0,
  memory: 0,
  problems: []
});

function make() {
  const asked: {
    graph: GraphData;
    answer: (result: CheckResult) => void;
    fail: (error: Error) => void;
  }[] = [];
  const document = new GraphDocument(new Y.Doc());
  const store = new CheckStore();
  const host = {
    layers: () => Promise.resolve([]),
    code: () => Promise.resolve(''),
    read: () => Promise.resolve({ graph: null, problem: null }),
    layout: () => Promise.resolve({}),
    check: (graph: GraphData) =>
      new Promise<CheckResult>((answer, fail) =>
        asked.push({ graph, answer, fail })
      )
  };
  const check = new LiveCheck(document, host, store);
  return { asked, document, store, check, stop: check.start() };
}

/** Waits for pending promises. */
async function settle(): Promise<void> {
  for (let n = 0; n < 5; n++) {
    await Promise.resolve();
  }
}

describe('LiveCheck', () => {
  it('asks at the start and shows the answer', async () => {
    const { asked, store } = make();
    expect(store.state().phase).toBe('checking');
    asked[0].answer(result(7));
    await settle();
    expect(store.state()).toMatchObject({
      phase: 'done',
      total: { parameters: 7 }
    });
    expect(store.node('a')?.parameters).toBe(7);
  });

  it('asks at once, and once more after a burst of changes', async () => {
    const { asked, document } = make();
    asked[0].answer(result(0));
    await settle();
    for (let n = 0; n < 5; n++) {
      document.addNode({ type: 'T', position: [0, 0] });
    }
    expect(asked).toHaveLength(2);
    expect(Object.keys(asked[1].graph.nodes)).toHaveLength(1);
    asked[1].answer(result(0));
    await settle();
    expect(asked).toHaveLength(3);
    expect(Object.keys(asked[2].graph.nodes)).toHaveLength(5);
  });

  it('is never twice in flight and drops a stale answer', async () => {
    const { asked, document, store } = make();
    document.addNode({ type: 'T', position: [0, 0] });
    expect(asked).toHaveLength(1);
    asked[0].answer(result(1));
    await settle();
    expect(store.state().total).toBeNull();
    expect(asked).toHaveLength(2);
    asked[1].answer(result(2));
    await settle();
    expect(store.state().total?.parameters).toBe(2);
  });

  it('does not ask when something only moved', async () => {
    const { asked, document } = make();
    const id = document.addNode({ type: 'T', position: [0, 0] });
    asked[0].answer(result(0));
    await settle();
    asked[1].answer(result(0));
    await settle();
    document.move({ [id]: [5, 5] });
    expect(asked).toHaveLength(2);
  });

  it('shows a failure and recovers', async () => {
    const { asked, check, store } = make();
    asked[0].fail(new Error('no server'));
    await settle();
    expect(store.state()).toMatchObject({
      phase: 'failed',
      message: 'no server'
    });
    check.retry();
    asked[1].answer(result(3));
    await settle();
    expect(store.state()).toMatchObject({ phase: 'done', message: '' });
  });

  it('is silent after it was stopped', async () => {
    const { asked, document, store, stop } = make();
    stop();
    asked[0].answer(result(3));
    document.addNode({ type: 'T', position: [0, 0] });
    await settle();
    expect(asked).toHaveLength(1);
    expect(store.state().total).toBeNull();
  });
});

describe('CheckStore', () => {
  it('keeps the figures of a node that did not change', () => {
    const store = new CheckStore();
    store.answer(result(5));
    const before = store.node('a');
    store.answer(result(5));
    expect(store.node('a')).toBe(before);
    store.answer(result(6));
    expect(store.node('a')).not.toBe(before);
  });

  it('gives a node the problem that names it', () => {
    const store = new CheckStore();
    const problems = [
      { node: 'a', edge: null, message: 'no input', fix: null }
    ];
    store.answer({ ...result(1), problems });
    expect(store.node('a')?.problem).toBe('no input');
  });
});
