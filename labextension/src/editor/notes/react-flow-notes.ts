// Notes as nodes of React Flow, behind the layers; unchanged ones keep their identity.
import { applyNodeChanges, NodeChange } from '@xyflow/react';
import { KeyboardEvent, useCallback, useLayoutEffect, useState } from 'react';

import { LayerFlowNode, View } from '../canvas/react-flow';
import { NoteEditing } from './note-editing';
import { NoteFlowNode } from './NoteNode';
import { noteLabel, notesAmong, visibleNotes } from './notes';
import { Translator } from '../../ui/translator';

export type CanvasNode = LayerFlowNode | NoteFlowNode;

/** Behind nodes and edges; React Flow raises selected nodes by 1000. */
const BEHIND = -1;
const LIFT = 1000;

function zIndexOf({ selected }: Pick<NoteFlowNode, 'selected'>): number {
  return selected ? BEHIND - LIFT : BEHIND;
}

export function noteNodes(
  { whole, scene, selected }: View,
  old: ReadonlyMap<string, NoteFlowNode>,
  pad: NoteEditing,
  trans: Translator
): NoteFlowNode[] {
  const shown = Object.entries(visibleNotes(whole, scene));
  // Small notes are above large ones, so that they can be clicked.
  shown.sort(([, a], [, b]) => b.width * b.height - a.width * a.height);
  return shown.map(([id, note]) => {
    const before = old.get(id);
    const isSelected = selected.nodes.has(id);
    // Changes by other users must not move a note that is being dragged.
    const isHeld = before?.dragging || pad.resizing === id;
    if (
      before?.data.note === note &&
      Boolean(before.selected) === isSelected &&
      before.zIndex === zIndexOf(before) &&
      (isHeld ||
        (before.position.x === note.x &&
          before.position.y === note.y &&
          before.width === note.width &&
          before.height === note.height))
    ) {
      return before;
    }
    return {
      ...before,
      id,
      type: 'note',
      ...(before && isHeld ? {} : { width: note.width, height: note.height }),
      position: before && isHeld ? before.position : { x: note.x, y: note.y },
      data: { note, pad },
      selected: isSelected,
      connectable: false,
      zIndex: zIndexOf({ selected: isSelected }),
      ariaRole: 'group',
      domAttributes: {
        'aria-roledescription': trans.__('note'),
        // replaces the description of layers
        'aria-describedby': undefined,
        'aria-description': trans.__(
          'Press Enter to write, arrow keys to move the note, Delete to remove it.'
        )
      },
      ariaLabel: noteLabel(note, trans)
    };
  });
}

export interface CanvasNotes {
  nodes: NoteFlowNode[];
  /** Applies the changes that React Flow reports for notes. */
  change(changes: NodeChange<CanvasNode>[]): void;
  /** Enter edits the selected note; false if the event is not handled. */
  keyDown(event: KeyboardEvent): boolean;
}

export function useNotes(
  view: View,
  pad: NoteEditing,
  trans: Translator
): CanvasNotes {
  const [nodes, setNodes] = useState(() =>
    noteNodes(view, new Map(), pad, trans)
  );
  useLayoutEffect(
    () =>
      setNodes(old => {
        const known = new Map(old.map(node => [node.id, node]));
        const next = noteNodes(view, known, pad, trans);
        const isSame =
          next.length === old.length && next.every((n, at) => n === old[at]);
        return isSame ? old : next;
      }),
    [view, pad, trans]
  );
  const change = useCallback(
    (changes: NodeChange<CanvasNode>[]) =>
      setNodes(old => {
        const known = new Set(old.map(node => node.id));
        const own = changes.filter(
          change => 'id' in change && known.has(change.id)
        ) as NodeChange<NoteFlowNode>[];
        return own.length
          ? applyNodeChanges(own, old).map(node =>
              node.zIndex === zIndexOf(node)
                ? node
                : { ...node, zIndex: zIndexOf(node) }
            )
          : old;
      }),
    []
  );
  const keyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    const isPlace =
      target === event.currentTarget ||
      target.classList.contains('react-flow__node');
    // React Flow has just selected the focused node, which the view does not show yet.
    const [only, ...others] = notesAmong(
      view.whole,
      target.dataset.id ? [target.dataset.id] : view.selected.nodes
    );
    const isEnter = event.key === 'Enter' && !event.ctrlKey && !event.metaKey;
    if (!isEnter || !isPlace || only === undefined || others.length) {
      return false;
    }
    pad.write(only);
    return true;
  };
  return { nodes, change, keyDown };
}
