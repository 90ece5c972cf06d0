/// <reference types="node" />
// Several people in one document: same layout as the server, deterministic repair of conflicts, saved file.

import * as fs from 'fs';
import * as path from 'path';

import { ICollaborativeContentProvider } from '@jupyter/collaborative-drive';
import * as Y from 'yjs';

import { plainTranslator } from '../../../editor';
import type { GraphData } from '../../../editor';
import { joinCollaboration, saveForKernel } from '../collaboration';
import { AwarenessCollaborators } from '../collaborators';
import { LabDLDocument, LabDLModel } from '../document';
import { LabDLModelFactory } from '../document-factory';

const ROOTS = ['nodes', 'edges', 'positions', 'meta', 'notes'];

/** File that both sides write; tests/lab/collaboration/test_shared_documents.py reads it too. */
const FIXTURE = JSON.parse(
  fs.readFileSync(
    path.join(
      __dirname,
      '../../../../../tests/lab/collaboration/files/shared.json'
    ),
    'utf8'
  )
) as {
  graph: GraphData;
  layout: object;
  python: string;
  typescript: string;
};

/** A document that has the others' updates. */
function joined(...updates: Uint8Array[]): LabDLDocument {
  const document = new LabDLDocument();
  updates.forEach(update => Y.applyUpdate(document.ydoc, update));
  return document;
}

const stateOf = (document: LabDLDocument) =>
  Y.encodeStateAsUpdate(document.ydoc);

/** Two people with the same document, whose changes are exchanged when `meet` is called. */
function two() {
  const start = Buffer.from(FIXTURE.typescript, 'base64');
  const [ada, bob] = [joined(start), joined(start)];
  const meet = () => {
    // a repair after an update is a change itself
    for (let times = 0; times < 3; times++) {
      const [hers, his] = [stateOf(ada), stateOf(bob)];
      Y.applyUpdate(ada.ydoc, his);
      Y.applyUpdate(bob.ydoc, hers);
    }
    const graph = ada.graph.snapshot();
    expect(bob.graph.snapshot()).toEqual(graph);
    expect(Object.keys(bob.graph.snapshot().nodes)).toEqual(
      Object.keys(graph.nodes)
    );
    return graph;
  };
  return { ada, bob, meet };
}

const namesIn = (graph: GraphData) =>
  Object.values(graph.nodes).map(node => node.name);

describe('the layout of the shared maps', () => {
  test('is the one that the server knows', () => {
    const document = new LabDLDocument();
    document.setSource(FIXTURE.graph as never);
    const layout = ROOTS.map(name => [name, document.ydoc.getMap(name)]);
    expect(JSON.parse(JSON.stringify(Object.fromEntries(layout)))).toEqual(
      FIXTURE.layout
    );
  });

  test.each(['python', 'typescript'] as const)('by %s is read', writer => {
    const document = joined(Buffer.from(FIXTURE[writer], 'base64'));
    const graph = document.graph.snapshot();
    expect(graph).toEqual(FIXTURE.graph);
    for (const part of ['nodes', 'edges'] as const) {
      expect(Object.keys(graph[part])).toEqual(
        Object.keys(FIXTURE.graph[part])
      );
    }
    expect(document.dirty).toBe(false);
  });

  test('holds why a file must not be edited', () => {
    const document = new LabDLDocument();
    document.ydoc.getMap('file').set('reason', 'This file is truncated');
    expect(document.graph.lock.state()).toEqual({
      kind: 'host',
      reason: 'This file is truncated'
    });
    document.ydoc.getMap('file').delete('reason');
    expect(document.graph.lock.state()).toBeNull();
  });
});

describe('two people at once', () => {
  test('add layers of one name: one of them is called otherwise', () => {
    const { ada, bob, meet } = two();
    ada.graph.addNode({ type: 'ReLU', position: [0, 0] });
    bob.graph.addNode({ type: 'ReLU', position: [0, 0] });
    expect(namesIn(meet()).slice(-2)).toEqual(['relu', 'relu_1']);
    // undo of either does not revert that
    ada.graph.undo();
    expect(namesIn(meet()).filter(name => /relu/.test(name))).toHaveLength(1);
  });

  test('connect a layer, and remove it', () => {
    const { ada, bob, meet } = two();
    const edge = { source: 'n9', source_port: 'output' };
    ada.graph.addEdges([{ ...edge, target: 'n7', target_port: 'x' }]);
    bob.graph.remove(['n7']);
    const { nodes, edges } = meet();
    expect(nodes).not.toHaveProperty('n7');
    // and one that closes the gap
    expect(Object.keys(edges)).toHaveLength(4);
    expect(Object.keys(edges)).toEqual(
      expect.arrayContaining(['e5', 'e2', 'e3'])
    );
    for (const { source, target } of Object.values(edges)) {
      expect([source, target]).not.toContain('n7');
    }
  });

  test('take a connection back to a layer that is gone', () => {
    const { ada, bob, meet } = two();
    ada.graph.remove([], ['e1']);
    meet();
    bob.graph.remove(['n7']);
    meet();
    ada.graph.undo();
    expect(meet().edges).not.toHaveProperty('e1');
  });

  test('share settings that are being removed', () => {
    const { ada, bob, meet } = two();
    ada.graph.patch({
      nodes: {
        new: { type: 'Conv2d', name: 'new', params: {}, shares: 'n2' }
      }
    });
    bob.graph.remove(['n1', 'n2']);
    expect(meet().nodes.new).not.toHaveProperty('shares');
  });

  test('set different settings of a layer, then the same one', () => {
    const { ada, bob, meet } = two();
    ada.graph.setParam('n2', 'out_channels', 32);
    bob.graph.setParam('n2', 'padding', 'valid');
    expect(meet().nodes.n2.params).toMatchObject({
      out_channels: 32,
      padding: 'valid'
    });
    ada.graph.setParam('n2', 'out_channels', 1);
    bob.graph.setParam('n2', 'out_channels', 2);
    expect([1, 2]).toContain(meet().nodes.n2.params.out_channels);
  });

  test('undo their own steps only', () => {
    const { ada, bob, meet } = two();
    ada.graph.rename('n9', 'picture');
    bob.graph.rename('n7', 'noise');
    meet();
    bob.graph.undo();
    const names = namesIn(meet());
    expect(names).toContain('picture');
    expect(names).not.toContain('noise');
    expect(bob.graph.canUndo()).toBe(false);
  });
});

test('each sees what the others have selected, in their colors', () => {
  const { ada, bob } = two();
  const [hers, his] = [ada, bob].map(person => person.awareness);
  bob.awareness.setLocalStateField('user', {
    display_name: 'Bob',
    color: 'var(--jp-collaborator-color2)'
  });
  const [seen, told] = [
    new AwarenessCollaborators(hers),
    new AwarenessCollaborators(his)
  ];
  const changes = jest.fn();
  seen.subscribe(changes);
  const hear = () => {
    const state = his.getLocalState();
    hers.states.set(his.clientID, state as never);
    hers.emit('change', [{}, 'test']);
  };
  told.select(['n2']);
  hear();
  const people = seen.at('n2');
  expect(people).toEqual([
    { name: 'Bob', color: 'var(--jp-collaborator-color2)' }
  ]);
  expect(seen.at('n9')).toEqual([]);
  expect(told.at('n2')).toEqual([]); // the own selection is drawn differently
  told.select(['n2', 'n9']);
  hear();
  expect(seen.at('n2')).toBe(people);
  expect(changes).toHaveBeenCalledTimes(2);
  his.setLocalStateField('labdl', { selected: 'everything' });
  hear();
  expect(seen.at('n2')).toEqual([]);
  seen.dispose();
  told.dispose();
});

describe('where jupyter-collaboration is', () => {
  const provider = (collaborative: boolean) => {
    const registerDocumentFactory = jest.fn();
    const sharedModelFactory = { collaborative, registerDocumentFactory };
    const given = { sharedModelFactory } as never;
    return { registerDocumentFactory, given };
  };

  test('installed, documents are shared', () => {
    const { given, registerDocumentFactory } = provider(true);
    expect(joinCollaboration(given)).toBe(true);
    const [type, make] = registerDocumentFactory.mock.calls[0];
    expect(type).toBe('labdl');
    expect(make()).toBeInstanceOf(LabDLDocument);
  });

  test.each([
    ['missing', null],
    ['switched off', provider(false).given as ICollaborativeContentProvider]
  ])('%s, they are not', (_word, given) => {
    expect(joinCollaboration(given)).toBe(false);
    expect(new LabDLModelFactory()).toMatchObject({
      collaborative: false,
      contentType: 'file',
      fileFormat: 'json'
    });
  });
});

describe('for a kernel', () => {
  const setUp = (collaborative: boolean, within = 20_000) => {
    const model = new LabDLModel({ collaborationEnabled: collaborative });
    model.fromJSON(FIXTURE.graph as never);
    const context = { path: 'a.labdl', model, save: jest.fn() };
    const disk = { graph: FIXTURE.graph };
    const contents = { save: jest.fn() };
    const api = { graph: () => Promise.resolve(disk.graph) };
    const options = { contents, api, trans: plainTranslator, within };
    const save = () => saveForKernel(context as never, options as never);
    return { model, context, disk, contents, save };
  };

  test('a document of one person is saved if it has changes', async () => {
    const { model, context, contents, save } = setUp(false);
    await save();
    expect(context.save).not.toHaveBeenCalled();
    model.graph.renameModel('other');
    await save();
    expect(context.save).toHaveBeenCalledTimes(1);
    expect(contents.save).not.toHaveBeenCalled();
  });

  test('a shared one is written until the file is as the canvas', async () => {
    const { model, disk, contents, save } = setUp(true);
    await save();
    expect(contents.save).not.toHaveBeenCalled();
    model.graph.renameModel('other');
    // the first save is sent before the change has arrived, the second is refused
    contents.save
      .mockResolvedValueOnce({})
      .mockRejectedValueOnce('Saving already in progress')
      .mockImplementation(async () => {
        disk.graph = model.graph.snapshot();
      });
    await save();
    expect(contents.save).toHaveBeenCalledTimes(3);
    expect(contents.save).toHaveBeenLastCalledWith('a.labdl', {
      type: 'labdl',
      format: 'base64',
      contentProviderId: 'rtc'
    });
  });

  test('what cannot be written is said', async () => {
    const { model, contents, save } = setUp(true, 250);
    contents.save.mockRejectedValue('Saving failed');
    model.graph.renameModel('other');
    await expect(save()).rejects.toThrow(
      'could not be updated from the canvas. Try again in a moment. Saving failed'
    );
  });
});
