import * as Y from 'yjs';
import { GraphDocument } from '../../editor/model/document';
import { EMPTY_GRAPH, type GraphData } from '../../editor/model/graph-data';
import { WidgetEditorHost } from '../editor-host';
import { linkGraph } from '../graph-trait';
import { TestModel } from './model';

const GRAPH: GraphData = {
  version: 1,
  name: 'small',
  nodes: { a: { type: 'Input', name: 'a', params: { shape: [null, 4] } } },
  edges: {},
  positions: { a: [0, 0] }
};
const LARGER: GraphData = {
  ...GRAPH,
  nodes: {
    ...GRAPH.nodes,
    b: { type: 'Linear', name: 'b', params: { out_features: 3 } }
  },
  positions: { a: [0, 0], b: [100, 0] }
};

function link(graph: GraphData = GRAPH) {
  const model = new TestModel({ _graph: graph });
  const document = new GraphDocument(new Y.Doc());
  const unlink = linkGraph(model.model as never, document);
  return { model, document, unlink };
}

describe('linkGraph', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it.each([GRAPH, EMPTY_GRAPH])(
    'opens the graph and sends nothing back',
    graph => {
      const { model, document } = link(graph);
      jest.runAllTimers();
      expect(document.snapshot()).toEqual(graph);
      expect(model.saved).toEqual([]);
    }
  );

  it('sends changes once they have come to rest', () => {
    const { model, document } = link();
    document.addNode({ type: 'ReLU', position: [1, 2] });
    document.addNode({ type: 'ReLU', position: [3, 4] });
    expect(model.saved).toHaveLength(0);
    jest.runAllTimers();
    expect(model.saved).toHaveLength(1);
    expect(model.state._graph).toEqual(document.snapshot());
    expect(Object.keys(document.snapshot().nodes)).toHaveLength(3);
  });

  it('takes what the kernel sets, without an echo', () => {
    const { model, document } = link();
    model.set('_graph', LARGER);
    jest.runAllTimers();
    expect(document.snapshot()).toEqual(LARGER);
    expect(model.saved).toEqual([]);
  });

  it('saves what still waits when it ends, and then lets go', () => {
    const { model, document, unlink } = link();
    document.addNode({ type: 'ReLU', position: [1, 2] });
    unlink();
    expect(model.saved).toHaveLength(1);
    expect(model.listening).toBe(0);
    document.addNode({ type: 'ReLU', position: [1, 2] });
    jest.runAllTimers();
    expect(model.saved).toHaveLength(1);
  });
});

describe('WidgetEditorHost', () => {
  function ask() {
    const model = new TestModel();
    return { model, host: new WidgetEditorHost(model.model as never) };
  }
  const idOf = (message: unknown) => (message as { id: string }).id;

  it('matches answers with questions', async () => {
    const { model, host } = ask();
    const layers = host.layers();
    const code = host.code(GRAPH);
    const [first, second] = model.sent;
    expect(first).toEqual({ type: 'request', id: idOf(first), name: 'layers' });
    expect(second).toEqual({
      type: 'request',
      id: idOf(second),
      name: 'code',
      graph: GRAPH
    });
    model.emit(
      'msg:custom',
      { type: 'reply', id: idOf(second), result: { source: 'pass' } },
      []
    );
    model.emit(
      'msg:custom',
      { type: 'reply', id: 'of another page', result: {} },
      []
    );
    model.emit(
      'msg:custom',
      { type: 'reply', id: idOf(first), result: { layers: [] } },
      []
    );
    await expect(code).resolves.toBe('pass');
    await expect(layers).resolves.toEqual([]);
  });

  it('passes on errors as they were said', async () => {
    const { model, host } = ask();
    const check = host.check(GRAPH);
    model.emit(
      'msg:custom',
      { type: 'reply', id: idOf(model.sent[0]), error: 'no such node' },
      []
    );
    await expect(check).rejects.toThrow('no such node');
  });

  it('does not leave questions open when the kernel has gone', async () => {
    const { model, host } = ask();
    const check = host.check(GRAPH);
    model.emit('comm_live_update');
    await expect(check).rejects.toThrow('kernel');
    host.dispose();
    expect(model.listening).toBe(0);
  });
});

describe('the runs of its kernel', () => {
  it('are asked for when somebody follows them, and told as they come', () => {
    const model = new TestModel({ _graph: GRAPH });
    const host = new WidgetEditorHost(model.model as never);
    const before = model.listening;
    const heard: string[] = [];
    const stop = host.followRun(events =>
      events.forEach(event => heard.push(event.kind))
    );
    expect(model.sent).toEqual([{ type: 'sync', run: -1, after: 0 }]);
    const events = [{ kind: 'start', time: 1 }];
    model.emit(
      'msg:custom',
      { type: 'events', run: 1, first: 0, events, alive: true },
      []
    );
    expect(heard).toEqual(['start']);
    stop();
    host.dispose();
    expect(model.listening).toBeLessThan(before);
  });
});
