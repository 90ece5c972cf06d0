// Unsaved changes are stored, offered to the next page, and deleted when they are saved or discarded.

import { Signal } from '@lumino/signaling';

import type { GraphData } from '../../../editor';
import { LabDLModel } from '../document';
import { Recovery } from '../recovery';
import type { Kept, Owner, RecoveryStore } from '../recovery-store';

const GRAPH: GraphData = {
  version: 1,
  name: 'net',
  nodes: { a: { type: 'Input', name: 'input', params: {} } },
  edges: {},
  positions: { a: [0, 0] }
};

class MemoryStore implements RecoveryStore {
  readonly kept = new Map<string, Kept>();
  owners = async () =>
    [...this.kept.keys()].map(key => JSON.parse(key) as Owner);
  get = async (owner: Owner) => this.kept.get(JSON.stringify(owner));
  set = async (owner: Owner, kept: Kept) =>
    void this.kept.set(JSON.stringify(owner), kept);
  delete = async (owner: Owner) => void this.kept.delete(JSON.stringify(owner));
  names = () => [...this.kept.values()].map(kept => kept.graph.name).sort();
}

/** The part of a document's context that a recovery uses. */
class Context {
  model = new LabDLModel();
  path = 'net.labdl';
  ready = Promise.resolve();
  isDisposed = false;
  saveState = new Signal<this, string>(this);
  pathChanged = new Signal<this, string>(this);
  disposed = new Signal<this, void>(this);

  constructor() {
    this.model.fromJSON(GRAPH as never);
  }

  /** Saves as JupyterLab does; `meanwhile` runs before the server has answered. */
  save(meanwhile = () => {}): void {
    this.saveState.emit('started');
    meanwhile();
    this.model.dirty = false;
    this.saveState.emit('completed');
  }

  rename(name: string): void {
    this.model.graph.renameModel(name);
  }
}

async function open(
  store: RecoveryStore,
  page: string,
  living: string[] = [],
  options: { isOn?: boolean; collaborative?: boolean } = {}
) {
  const context = new Context();
  if (options.collaborative) {
    Object.assign(context.model, { collaborative: true });
  }
  const failures: unknown[] = [];
  const recovery = new Recovery({
    context: context as never,
    store,
    server: 'http://here/',
    page,
    livingPages: async () => new Set([page, ...living]),
    isOn: () => options.isOn ?? true,
    failed: error => failures.push(error)
  });
  await jest.advanceTimersByTimeAsync(0);
  return { context, recovery, failures };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('a change is kept within a second, and a page that leaves keeps it at once', async () => {
  const store = new MemoryStore();
  const { context } = await open(store, 'one');
  context.rename('first');
  await jest.advanceTimersByTimeAsync(1000);
  expect(store.names()).toEqual(['first']);
  context.rename('second');
  window.dispatchEvent(new Event('pagehide'));
  await jest.advanceTimersByTimeAsync(0);
  expect(store.names()).toEqual(['second']);
});

test('an open page does not write what was only read', async () => {
  const store = new MemoryStore();
  await open(store, 'one');
  await jest.advanceTimersByTimeAsync(2000);
  expect(store.names()).toEqual([]);
});

test('saving and closing forget; undone saving does not', async () => {
  const store = new MemoryStore();
  const { context } = await open(store, 'one');
  context.rename('changed');
  await jest.advanceTimersByTimeAsync(1000);
  context.save();
  await jest.advanceTimersByTimeAsync(1000);
  expect(store.names()).toEqual([]);
  context.rename('again');
  await jest.advanceTimersByTimeAsync(1000);
  expect(store.names()).toEqual(['again']);
  context.disposed.emit();
  await jest.advanceTimersByTimeAsync(1000);
  expect(store.names()).toEqual([]);
});

test('what is changed while the document is being saved stays unsaved', async () => {
  const store = new MemoryStore();
  const { context } = await open(store, 'one');
  context.rename('saved');
  context.save(() => context.rename('too late'));
  expect(context.model.dirty).toBe(true);
  await jest.advanceTimersByTimeAsync(1000);
  expect(store.names()).toEqual(['too late']);
  context.save(() => context.model.fromJSON(GRAPH as never)); // revert
  expect(context.model.dirty).toBe(false);
});

test('saving takes along what a field has not applied yet', async () => {
  const { context } = await open(new MemoryStore(), 'one');
  context.rename('before');
  const { graph } = context.model;
  graph.typedChanges.add(() => context.rename('typed'));
  let file: unknown;
  context.save(() => (file = context.model.toJSON()));
  expect(file).toMatchObject({ name: 'typed' });
  expect(context.model.dirty).toBe(false);
});

test('the next page offers what a dead one left, and takes it over as one step', async () => {
  const store = new MemoryStore();
  const first = await open(store, 'one');
  first.context.rename('lost');
  await jest.advanceTimersByTimeAsync(1000);

  const living = await open(store, 'two', ['one']);
  expect(living.recovery.offer()).toBeNull(); // the first page is still open

  const { context, recovery } = await open(store, 'three');
  expect(recovery.offer()?.graph.name).toBe('lost');
  expect(context.model.dirty).toBe(false);
  recovery.restore();
  await jest.advanceTimersByTimeAsync(1000);
  expect(recovery.offer()).toBeNull();
  expect(context.model.graph.snapshot().name).toBe('lost');
  expect(context.model.dirty).toBe(true);
  expect(await store.owners()).toEqual([
    { server: 'http://here/', path: 'net.labdl', page: 'three' }
  ]);
  context.model.graph.undo();
  expect(context.model.graph.snapshot().name).toBe('net');
});

test('several dead pages are offered one after the other, the newest first', async () => {
  const store = new MemoryStore();
  for (const page of ['one', 'two']) {
    const { context } = await open(store, page, ['one']);
    context.rename(page);
    await jest.advanceTimersByTimeAsync(1000);
  }
  const { recovery } = await open(store, 'three');
  expect(recovery.offer()?.graph.name).toBe('two');
  recovery.discard();
  expect(recovery.offer()?.graph.name).toBe('one');
  recovery.discard();
  expect(recovery.offer()).toBeNull();
  await jest.advanceTimersByTimeAsync(0);
  expect(store.names()).toEqual([]);
});

test('what is as the file, old, or of another document is not offered', async () => {
  const store = new MemoryStore();
  const owner = { server: 'http://here/', path: 'net.labdl', page: 'dead' };
  const other = { ...owner, path: 'other.labdl' };
  const at = Date.now();
  await store.set(owner, { graph: GRAPH, at });
  await store.set(other, { graph: { ...GRAPH, name: 'other' }, at });
  await store.set(
    { ...owner, server: 'http://there/' },
    { graph: { ...GRAPH, name: 'there' }, at }
  );
  await store.set(
    { ...owner, page: 'long dead' },
    { graph: { ...GRAPH, name: 'old' }, at: at - 31 * 24 * 3600 * 1000 }
  );
  const { recovery } = await open(store, 'one');
  expect(recovery.offer()).toBeNull();
  expect(store.names()).toEqual(['other', 'there']);
});

test('a document under another name keeps its changes under that', async () => {
  const store = new MemoryStore();
  const { context } = await open(store, 'one');
  context.rename('changed');
  await jest.advanceTimersByTimeAsync(1000);
  context.path = 'moved.labdl';
  context.pathChanged.emit(context.path);
  await jest.advanceTimersByTimeAsync(1000);
  expect((await store.owners()).map(({ path }) => path)).toEqual([
    'moved.labdl'
  ]);
});

test.each([{ isOn: false }, { collaborative: true }])(
  'nothing is kept where that is not wanted: %j',
  async options => {
    const store = new MemoryStore();
    const { context } = await open(store, 'one', [], options);
    context.rename('changed');
    await jest.advanceTimersByTimeAsync(2000);
    expect(store.names()).toEqual([]);
  }
);

test('a browser that keeps nothing is told of, and the editor goes on', async () => {
  const store = new MemoryStore();
  store.set = () => Promise.reject(new Error('no room'));
  const { context, failures } = await open(store, 'one');
  context.rename('changed');
  await jest.advanceTimersByTimeAsync(1000);
  expect(failures).toEqual([new Error('no room')]);
});
