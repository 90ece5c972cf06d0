// The commands that select layers: their names, their keys and what they select.
import { visibleNotes } from '../notes/notes';
import { Selected } from '../model/selection';
import { Translator } from '../../ui/translator';
import type { Surroundings } from './actions';

export interface SelectionCommand {
  id: string;
  label(trans: Translator): string;
  caption(trans: Translator): string;
  /** Its key on the canvas; `accel` is Ctrl, or Cmd on a Mac. */
  key: { key: string; accel?: boolean; shift?: boolean };
  select(editor: Surroundings): Selected;
}

/** The command palette and the keys of the canvas list these. */
export const SELECTION_COMMANDS: SelectionCommand[] = [
  {
    id: 'select-all',
    label: trans => trans.__('Select All'),
    caption: trans => trans.__('Select all layers'),
    key: { key: 'a', accel: true },
    select({ document, scene }) {
      const { nodes, edges } = scene.graph;
      const notes = visibleNotes(document.snapshot(), scene);
      return {
        nodes: new Set(Object.keys({ ...nodes, ...notes })),
        edges: new Set(Object.keys(edges))
      };
    }
  }
];
