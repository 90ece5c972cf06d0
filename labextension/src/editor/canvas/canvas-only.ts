// The editor reduced to its canvas, for views that show models beside something else.
import { EdgeTypes, NodeTypes } from '@xyflow/react';
import { ReactNode } from 'react';

import { EditorActions } from '../commands/actions';
import { SelectionStore } from '../model/selection';

export interface CanvasOnly {
  /** How nodes and edges are drawn, where not as usual. */
  nodeTypes?: NodeTypes;
  edgeTypes?: EdgeTypes;
  selection: SelectionStore;
  /** Opens or folds a block in the view, since the document must not be changed. */
  toggle(path: string): void;
  /** Stands in the canvas. */
  children: ReactNode;
}

/** The actions of a canvas that only shows: to open and to fold a block is the view's business. */
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
