// Opens the editor in tests; jsdom has no layout, so sizes are mocked.
import { act, render } from '@testing-library/react';
import * as Y from 'yjs';

import { Editor, EditorActions, GraphDocument, plainTranslator } from '..';
import type { EditorHost } from '..';
import { placesInRow } from '../canvas/layout-request';

class NoObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
}
Object.assign(globalThis, { ResizeObserver: NoObserver });
Element.prototype.scrollIntoView = () => undefined;

/** A host without layers, whose check reports no problems. */
const HOST: EditorHost = {
  layers: () => Promise.resolve([]),
  layout: request => Promise.resolve(placesInRow(request)),
  code: () => Promise.resolve('code'),
  read: () => Promise.resolve({ graph: null, problem: null }),
  check: () =>
    Promise.resolve({
      nodes: {},
      parameters: 0,
      operations: 0,
      memory: 0,
      problems: []
    })
};

export async function openEditor(
  host: Partial<EditorHost> = {},
  document = new GraphDocument(new Y.Doc())
) {
  let actions: EditorActions | undefined;
  render(
    <Editor
      document={document}
      host={{ ...HOST, ...host }}
      trans={plainTranslator}
      actions={api => {
        actions = api;
      }}
    />
  );
  await act(async () => undefined);
  return { document, actions: actions as EditorActions };
}
