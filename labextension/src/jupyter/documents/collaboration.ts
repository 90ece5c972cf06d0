// Several people in one document, where jupyter-collaboration is installed: its server keeps the document, and writes it.

import { ICollaborativeContentProvider } from '@jupyter/collaborative-drive';
import { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';

import { sameJson } from '../../editor';
import type { GraphData, Translator } from '../../editor';
import type { LabDLApi } from '../requests';
import { LabDLDocument, LabDLModel } from './document';

/** The content type of shared documents; labdl/lab/collaboration/shared_graph.py is known to jupyter-collaboration under it. */
export const SHARED_TYPE = 'labdl';

/** The name under which jupyter-collaboration registers its content provider. */
export const SHARED_PROVIDER = 'rtc';

const WRITTEN_WITHIN = 10_000; // ms
const PAUSE = 100;

/** Whether model files are opened together with others; then jupyter-collaboration has been told how. */
export function joinCollaboration(
  provider: ICollaborativeContentProvider | null
): boolean {
  const factory = provider?.sharedModelFactory;
  if (!factory?.collaborative) {
    return false; // it is not installed, or switched off
  }
  factory.registerDocumentFactory(SHARED_TYPE, () => new LabDLDocument());
  return true;
}

type Context = Pick<
  DocumentRegistry.IContext<LabDLModel>,
  'path' | 'model' | 'save'
>;

export interface SavingOptions {
  contents: Pick<Contents.IManager, 'save'>;
  api: Pick<LabDLApi, 'graph'>;
  trans: Translator;
  /** How long the file may take to be as the canvas, in ms. */
  within?: number;
}

/** Saves a document that has changes, for a kernel that will read its file. */
export async function saveForKernel(
  context: Context,
  options: SavingOptions
): Promise<void> {
  if (context.model.collaborative) {
    await writeShared(context, options);
  } else if (context.model.dirty) {
    await context.save();
  }
}

/**
 * Has the server write a shared document if its file does not say what the canvas shows, and waits until it does. The
 * server answers that it has written, but our last change may still be on its way to it, and of a failure only its log
 * knows.
 */
async function writeShared(
  context: Context,
  { contents, api, trans, within = WRITTEN_WITHIN }: SavingOptions
): Promise<void> {
  const end = Date.now() + within;
  let problem = '';
  for (;;) {
    const there = await api.graph(context.path);
    if (isSameGraph(there, context.model.graph.snapshot())) {
      return;
    }
    if (Date.now() > end) {
      throw new Error(
        trans.__(
          'The file could not be updated from the canvas. Try again in a moment. %1',
          problem
        )
      );
    }
    try {
      await contents.save(context.path, {
        type: SHARED_TYPE,
        format: 'base64',
        contentProviderId: SHARED_PROVIDER
      });
    } catch (error) {
      problem = String(error); // such as "Saving already in progress"
    }
    await new Promise(resolve => setTimeout(resolve, PAUSE));
  }
}

/** Places and notes do not matter to who loads the file. */
function isSameGraph(a: GraphData, b: GraphData): boolean {
  const comparableParts = ({ name, nodes, edges, ties = {} }: GraphData) => {
    const order = [Object.keys(nodes), Object.keys(edges)];
    return { name: name || 'model', nodes, edges, ties, order };
  };
  return sameJson(comparableParts(a), comparableParts(b));
}
