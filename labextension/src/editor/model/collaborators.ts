// Other users who edit the document, and their selections.

export interface Person {
  name: string;
  /** A CSS color. */
  color: string;
}

/** Other users of the document, from hosts that support collaboration. */
export interface People {
  /** Users who have selected the node; the same list while it is equal. */
  at(node: string): readonly Person[];
  subscribe(listener: () => void): () => void;
  /** Shares the own selection with the others. */
  select(nodes: Iterable<string>): void;
}

/** Collaborators of an editor without collaboration. */
export const NOBODY: People = {
  at: () => NONE,
  subscribe: () => () => undefined,
  select: () => undefined
};

const NONE: readonly Person[] = [];
