// Interface of a code editor for Python source that a host may provide.

export type { ReadAnswer as Reading } from '../../api/editor';

/** A code editor inside an element. */
export interface SourceEditor {
  setText(text: string): void;
  /** Marks a line, counted from 1, as erroneous; null removes the mark. */
  mark(line: number | null): void;
  setReadOnly(isReadOnly: boolean): void;
  focus(): void;
  dispose(): void;
}

export interface SourceEditorOptions {
  /** Accessible name for screen readers. */
  label: string;
  /** Called when the user changes the text. */
  changed: (text: string) => void;
}

export type MakeSourceEditor = (
  element: HTMLElement,
  options: SourceEditorOptions
) => SourceEditor;
