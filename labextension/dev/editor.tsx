// Shows the editor on a page of its own, with a host that needs no Python.
import { createRoot } from 'react-dom/client';
import * as Y from 'yjs';

import {
  Editor,
  EditorActions,
  GraphDocument,
  plainTranslator
} from '../src/editor';
import '../style/editor.css';
import { GRAPHS } from './graphs';
import { mockHost } from './host';
import './theme.css';

const query = new URLSearchParams(location.search);
const ydoc = new Y.Doc();
const graph = new GraphDocument(ydoc);
graph.load((GRAPHS[query.get('graph') ?? 'small'] ?? GRAPHS.small)());
if (query.get('theme')) {
  document.documentElement.dataset.theme = query.get('theme') ?? '';
}

declare global {
  interface Window {
    /** For the console and for browser tests. */
    labdl: { graph: GraphDocument; ydoc: Y.Doc; actions?: EditorActions };
  }
}
window.labdl = { graph, ydoc };

const host = mockHost(query.has('failing'));
createRoot(document.getElementById('editor') as HTMLElement).render(
  <Editor
    document={graph}
    host={host}
    trans={plainTranslator}
    actions={api => {
      window.labdl.actions = api;
    }}
  />
);
