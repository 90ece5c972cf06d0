// Who else works on the document, and on what.

export interface Person {
  name: string;
  /** A CSS color. */
  color: string;
}

/** The others who have the document open; a host has this where there can be others. */
export interface People {
  /** Who has selected the node; the same list while it says the same. */
  at(node: string): readonly Person[];
  subscribe(listener: () => void): () => void;
  /** Tells the others what is selected here. */
  select(nodes: Iterable<string>): void;
}

/** What an editor shows where there is nobody else. */
export const NOBODY: People = {
  at: () => NONE,
  subscribe: () => () => undefined,
  select: () => undefined
};

const NONE: readonly Person[] = [];
