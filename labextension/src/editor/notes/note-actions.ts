// Actions on notes: add one, add one around the selection.
import type { EditorActions, Surroundings } from '../commands/actions';
import { homeAt } from '../commands/add-layers';
import { newId } from '../model/naming';
import {
  newNote,
  noteAround,
  NOTE_SIZE,
  notesAmong,
  placeOf,
  visibleNotes
} from './notes';
import { commonPath, isInside } from '../model/paths';
import { NoteData, Position } from '../model/graph-data';

type NoteActions = Pick<
  EditorActions,
  'addNote' | 'frameSelection' | 'selectedNotes'
>;

export function makeNoteActions(
  now: () => Surroundings,
  drawn: () => string[]
): NoteActions {
  const add = (note: NoteData) => {
    const { document, pad, selection, show, isVisible } = now();
    const graph = document.snapshot();
    const id = newId('c', {
      has: id => id in (graph.notes ?? {}) || id in graph.nodes
    });
    pad.add(id, note);
    selection.set([id]);
    if (!isVisible(placeOf(note))) {
      show([id]);
    }
  };

  const actions: NoteActions = {
    addNote() {
      const { document, middle, pointer } = now();
      if (document.lock.state()) {
        return;
      }
      const [x, y] = middle();
      const { width, height } = NOTE_SIZE;
      const at: Position = pointer() ?? [x - width / 2, y - height / 2];
      add(newNote(at, homeAt(at, now())));
    },

    frameSelection() {
      const { document, places, scene, sizeOf, say, trans } = now();
      if (document.lock.state()) {
        return;
      }
      const ids = drawn().filter(id => !scene.outside.has(id));
      const { notes = {} } = document.snapshot();
      const rects = [
        ...ids.map(id => ({
          x: places[id][0],
          y: places[id][1],
          ...sizeOf(id)
        })),
        ...actions.selectedNotes().map(id => notes[id])
      ];
      const home = commonPath(ids.map(id => scene.graph.nodes[id].name));
      const note = noteAround(
        rects,
        ids.length && isInside(`${home}/`, scene.within) ? home : scene.within
      );
      if (note) {
        add(note);
      } else {
        say(trans.__('Select the layers to put the note around.'));
      }
    },

    selectedNotes() {
      const { document, scene, selection } = now();
      const notes = visibleNotes(document.snapshot(), scene);
      return notesAmong({ notes }, selection.state().nodes);
    }
  };
  return actions;
}
