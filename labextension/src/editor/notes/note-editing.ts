// Editing of single notes: the edited or resized one, and the changes of the document.
import { GraphDocument } from '../model/document';
import { NoteData } from '../model/graph-data';
import { LONGEST } from './notes';

export class NoteEditing {
  constructor(readonly document: GraphDocument) {}

  /** Id of the note whose text is being edited; null if there is none. */
  readonly state = (): string | null => this._editedId;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  /** Adds a note and starts editing it, in one undo step. */
  add(id: string, note: NoteData): void {
    if (!this.document.lock.state()) {
      this.document.patch({ notes: { [id]: note } }, undoKey(id));
      this._setEdited(id);
    }
  }

  /** Starts editing a note. */
  readonly write = (id: string): void => {
    if (!this.document.lock.state() && this._note(id)) {
      this._setEdited(id);
    }
  };

  /** Sets the text during editing, in one undo step, and grows the note to `height`. */
  readonly type = (id: string, text: string, height: number): void => {
    const note = this._note(id);
    if (note) {
      const fitting = { text: text.slice(0, LONGEST).replaceAll('\0', '') };
      const grown = { height: Math.max(note.height, Math.ceil(height)) };
      const next = { ...note, ...fitting, ...grown };
      this.document.patch({ notes: { [id]: next } }, undoKey(id));
    }
  };

  /** Ends editing a note. */
  readonly leave = (id: string): void => {
    if (this._editedId === id) {
      this.document.endTyping();
      this._setEdited(null);
    }
  };

  /** Changes other values of a note. */
  readonly change = (
    id: string,
    values: Partial<NoteData>,
    typing?: string
  ): void => {
    const note = this._note(id);
    if (note) {
      this.document.patch({ notes: { [id]: { ...note, ...values } } }, typing);
    }
  };

  /** Id of the note that is being resized; the document changes at the end. */
  resizing: string | null = null;

  private _note(id: string): NoteData | undefined {
    return this.document.snapshot().notes?.[id];
  }

  private _setEdited(id: string | null): void {
    this._editedId = id;
    [...this._listeners].forEach(listener => listener());
  }

  private _editedId: string | null = null;
  private readonly _listeners = new Set<() => void>();
}

function undoKey(id: string): string {
  return `note ${id}`;
}
