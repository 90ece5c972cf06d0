// Collaboration with jupyter-collaboration, where installed: its server holds and saves the document.

import { ICollaborativeContentProvider } from '@jupyter/collaborative-drive';
import { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';

import { sameJson } from '../../editor';
import type { GraphData, Translator } from '../../editor';
import type { LabDLApi } from '../requests';
import { LabDLDocument, LabDLModel } from './document';

/** Content type of shared documents, for which labdl/lab/collaboration/shared_graph.py is registered on the server. */
export const SHARED_TYPE = 'labdl';

/** Name of jupyter-collaboration's content provider. */
export const SHARED_PROVIDER = 'rtc';

const WRITTEN_WITHIN = 10_000; // ms
const PAUSE = 100;

/** Registers the document with jupyter-collaboration; returns whether model files are opened collaboratively. */
export function joinCollaboration(
  provider: ICollaborativeContentProvider | null
): boolean {
  const factory = provider?.sharedModelFactory;
  if (!factory?.collaborative) {
    return false; // not installed, or disabled
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
  /** Timeout for the file to equal the canvas, in ms. */
  within?: number;
}

/** Saves a changed document before a kernel reads its file. */
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
 * Asks the server to save a shared document until its file equals the canvas. One request is not enough: the server
 * may answer before our last change has reached it, and reports failures only in its log.
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

/** Whether two graphs are the same for a kernel that loads the file: without positions and notes. */
function isSameGraph(a: GraphData, b: GraphData): boolean {
  const comparableParts = ({ name, nodes, edges, ties = {} }: GraphData) => {
    const order = [Object.keys(nodes), Object.keys(edges)];
    return { name: name || 'model', nodes, edges, ties, order };
  };
  return sameJson(comparableParts(a), comparableParts(b));
}
