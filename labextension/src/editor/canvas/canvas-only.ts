// Editor reduced to its canvas, for views that embed models.
import { EdgeTypes, NodeTypes } from '@xyflow/react';
import { ReactNode } from 'react';

import { EditorActions } from '../commands/actions';
import { SelectionStore } from '../model/selection';

export interface CanvasOnly {
  /** Components of nodes and edges; by default those of the editor. */
  nodeTypes?: NodeTypes;
  edgeTypes?: EdgeTypes;
  selection: SelectionStore;
  /** Opens or folds a block in the view; the document is read-only. */
  toggle(path: string): void;
  /** Content of the canvas. */
  children: ReactNode;
}

/** Actions of a read-only canvas; the view opens and folds blocks. */
export function showing(
  actions: EditorActions,
  { toggle }: CanvasOnly
): EditorActions {
  const open = (path?: string) => (path ? toggle(path) : undefined);
  return {
    ...actions,
    enter: open,
    fold: open,
    unfold: path => Promise.resolve(open(path))
  };
}
