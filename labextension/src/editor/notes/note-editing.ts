// What happens to single notes: which one is being written or resized, and what that changes in the document.
import { GraphDocument } from '../model/document';
import { NoteData } from '../model/graph-data';
import { LONGEST } from './notes';

export class NoteEditing {
  constructor(readonly document: GraphDocument) {}

  /** The note that is being written; null if there is none. */
  readonly state = (): string | null => this._written;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  /** Adds a note and begins to write it: both are one undo step. */
  add(id: string, note: NoteData): void {
    if (!this.document.lock.state()) {
      this.document.patch({ notes: { [id]: note } }, stepOf(id));
      this._tell(id);
    }
  }

  /** Begins to write a note. */
  readonly write = (id: string): void => {
    if (!this.document.lock.state() && this._note(id)) {
      this._tell(id);
    }
  };

  /** The text while it is being written, all in one undo step, and how high it has become. */
  readonly type = (id: string, text: string, height: number): void => {
    const note = this._note(id);
    if (note) {
      const fitting = { text: text.slice(0, LONGEST).replaceAll('\0', '') };
      const grown = { height: Math.max(note.height, Math.ceil(height)) };
      const next = { ...note, ...fitting, ...grown };
      this.document.patch({ notes: { [id]: next } }, stepOf(id));
    }
  };

  /** Ends the writing of a note. */
  readonly leave = (id: string): void => {
    if (this._written === id) {
      this.document.endTyping();
      this._tell(null);
    }
  };

  /** Changes something else about a note. */
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

  /** The note whose edge a person drags; its place and size go to the document when it is let go. */
  resizing: string | null = null;

  private _note(id: string): NoteData | undefined {
    return this.document.snapshot().notes?.[id];
  }

  private _tell(id: string | null): void {
    this._written = id;
    [...this._listeners].forEach(listener => listener());
  }

  private _written: string | null = null;
  private readonly _listeners = new Set<() => void>();
}

function stepOf(id: string): string {
  return `note ${id}`;
}
