// Visibility and width of the code panel, stored for the session.

export interface CodePane {
  isOpen: boolean;
  /** In pixels. */
  width: number;
}

const KEY = 'labdl:code';
const CLOSED: CodePane = { isOpen: false, width: 420 };
export const NARROWEST = 220;
export const WIDEST = 1200;

export function readCodePane(): CodePane {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as unknown;
    return isPane(kept) ? { ...kept, width: within(kept.width) } : CLOSED;
  } catch {
    // The page has no storage, or the value is invalid.
    return CLOSED;
  }
}

export function keepCodePane(pane: CodePane): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(pane));
  } catch {
    // Without storage, the state is lost on reload.
  }
}

export function within(width: number): number {
  return Math.round(Math.min(Math.max(width, NARROWEST), WIDEST));
}

function isPane(value: unknown): value is CodePane {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as CodePane).isOpen === 'boolean' &&
    Number.isFinite((value as CodePane).width)
  );
}
