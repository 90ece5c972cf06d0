// Notes on the canvas: validation, visibility, labels and positions.
import { NOTE, NOTE_COLORS } from '../../api/drawing';
import { around, Rect } from '../blocks/frame-geometry';
import { Size } from '../canvas/node-size';
import { GraphData, NoteData, Position } from '../model/graph-data';
import { isPath } from '../model/naming';
import { isInside, parentOf, pathsOf } from '../model/paths';
import type { Scene } from '../canvas/scene';
import type { Translator } from '../../ui/translator';

export type Notes = { [id: string]: NoteData };

export const LONGEST = NOTE.longest;
export const NOTE_SIZE: Size = { width: 220, height: 110 };
export const SMALLEST: Size = { width: 80, height: 36 };

/** Hues as in files; the empty name is gray. */
export const COLORS = ['', ...NOTE_COLORS];
const FIRST_COLOR = 'yellow';
const COLOR = new RegExp(NOTE.color);

/** The translated name of a hue. */
export function colorName(color: string, trans: Translator): string {
  const names: { [color: string]: string } = {
    '': trans.__('Gray'),
    yellow: trans.__('Yellow'),
    green: trans.__('Green'),
    blue: trans.__('Blue'),
    purple: trans.__('Purple'),
    red: trans.__('Red')
  };
  return names[color] ?? color;
}

/** Whether a value is a valid note, for the canvas, files and Python. */
export function isNote(value: unknown): value is NoteData {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  const note = value as { [key: string]: unknown };
  const isNumber = (number: unknown, least: number) =>
    typeof number === 'number' && number >= least && number <= NOTE.farthest;
  return (
    typeof note.text === 'string' &&
    note.text.length <= LONGEST &&
    !note.text.includes('\0') &&
    typeof note.home === 'string' &&
    (note.home === '' || isPath(note.home)) &&
    typeof note.color === 'string' &&
    COLOR.test(note.color) &&
    [note.x, note.y].every(number => isNumber(number, -NOTE.farthest)) &&
    [note.width, note.height].every(number => isNumber(number, 1))
  );
}

/** The notes to draw: those of the entered block and of the open blocks in it. */
export function visibleNotes(
  { nodes, notes = {} }: GraphData,
  scene: Scene
): Notes {
  const all = Object.entries(notes);
  if (all.length === 0) {
    return {};
  }
  const paths = new Set(
    Object.values(nodes).flatMap(node => pathsOf(node.name))
  );
  const folded = [...scene.blocks.values()].map(block => block.path);
  const shown = all.filter(([, note]) => {
    // Notes of a removed block belong to the nearest block that still exists.
    let home = note.home;
    while (home && !paths.has(home)) {
      home = parentOf(home);
    }
    const isIn = (path: string) => home === path || isInside(home, path);
    return isIn(scene.within) && !folded.some(isIn);
  });
  return Object.fromEntries(shown);
}

/** The label of a note for screen readers. */
export function noteLabel(note: NoteData, trans: Translator): string {
  const text = note.text.trim().slice(0, 300);
  return text ? trans.__('Note: %1', text) : trans.__('Empty note');
}

export function newNote(at: Position, home: string): NoteData {
  const [x, y] = at;
  return {
    text: '',
    home,
    color: FIRST_COLOR,
    x: Math.round(x),
    y: Math.round(y),
    ...NOTE_SIZE
  };
}

/** Margin between a note and its content; above it, a line of text. */
const ROOM = 24;
const TITLE = 28;

/** A note around rectangles; null if there are none. */
export function noteAround(rects: Rect[], home: string): NoteData | null {
  const rect = around(rects);
  return (
    rect && {
      ...newNote([rect.x - ROOM, rect.y - ROOM - TITLE], home),
      width: Math.round(rect.width + 2 * ROOM),
      height: Math.round(rect.height + 2 * ROOM + TITLE)
    }
  );
}

/** The ids that belong to notes. */
export function notesAmong(
  { notes = {} }: Pick<GraphData, 'notes'>,
  ids: Iterable<string>
): string[] {
  return [...ids].filter(id => id in notes);
}

export function placeOf({ x, y }: NoteData): Position {
  return [x, y];
}

export function placesOf(notes: Notes): { [id: string]: Position } {
  return Object.fromEntries(
    Object.entries(notes).map(([id, note]) => [id, placeOf(note)])
  );
}

/** The notes in a block and in the blocks inside it. */
export function notesInside(notes: Notes, path: string): Notes {
  return Object.fromEntries(
    Object.entries(notes).filter(
      ([, { home }]) => home === path || isInside(home, path)
    )
  );
}

/** The notes with new positions. */
export function moveNotes(
  notes: Notes,
  to: (note: NoteData, id: string) => Position | undefined
): Notes {
  return Object.fromEntries(
    Object.entries(notes).flatMap(([id, note]) => {
      const at = to(note, id);
      return at
        ? [[id, { ...note, x: Math.round(at[0]), y: Math.round(at[1]) }]]
        : [];
    })
  ) as Notes;
}
