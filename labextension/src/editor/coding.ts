// What the editor needs for Python: what source was read as, and a text editor that a host may bring.
import { GraphData } from './model';

/** What Python source was read as: one of the two is null. */
export interface Reading {
  graph: GraphData | null;
  problem: { message: string; line: number | null } | null;
}

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
