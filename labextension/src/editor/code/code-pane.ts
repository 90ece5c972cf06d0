// Visibility of the code panel, a state of each document, and its width, which is one for all; stored for the session.

export interface CodePane {
  isOpen: boolean;
  /** In pixels. */
  width: number;
}

const KEY = 'labdl:code';
const WIDTH = 420;
export const NARROWEST = 220;
export const WIDEST = 1200;

/** The panel of a document, by its name in the host; without a name, as in a cell, it starts closed. */
export function readCodePane(name: string | undefined): CodePane {
  const stored = Number(read(KEY) ?? NaN);
  return {
    isOpen: name !== undefined && read(keyOf(name)) === 'open',
    width: Number.isFinite(stored) ? within(stored) : WIDTH
  };
}

export function keepCodePane(name: string | undefined, pane: CodePane): void {
  try {
    sessionStorage.setItem(KEY, String(pane.width));
    if (name !== undefined && pane.isOpen) {
      sessionStorage.setItem(keyOf(name), 'open');
    } else if (name !== undefined) {
      sessionStorage.removeItem(keyOf(name));
    }
  } catch {
    // Without storage, the state is lost on reload.
  }
}

export function within(width: number): number {
  return Math.round(Math.min(Math.max(width, NARROWEST), WIDEST));
}

const keyOf = (name: string) => `${KEY}:${name}`;

function read(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null; // the page has no storage
  }
}
