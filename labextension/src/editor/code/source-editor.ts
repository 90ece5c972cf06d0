// The interface of a text editor for Python source that a host may bring.

export type { ReadAnswer as Reading } from '../../api/editor';

/** An editor of source in an element. */
export interface SourceEditor {
  setText(text: string): void;
  /** Marks a line, counted from 1, as the one with the problem; null marks none. */
  mark(line: number | null): void;
  setReadOnly(isReadOnly: boolean): void;
  focus(): void;
  dispose(): void;
}

export interface SourceEditorOptions {
  /** What a screen reader calls it. */
  label: string;
  /** A person changed the text. */
  changed: (text: string) => void;
}

export type MakeSourceEditor = (
  element: HTMLElement,
  options: SourceEditorOptions
) => SourceEditor;
