// Keys in the grid of samples: arrows, Home, End and pages move the focus.

import { useEffect, useRef, type KeyboardEvent, type RefObject } from 'react';

interface Grid {
  frame: RefObject<HTMLElement>;
  columns: number;
  /** Rows in view. */
  rows: number;
  total: number;
  active: number;
  setActive: (position: number) => void;
  scrollTo: (row: number) => void;
}

export function useTileKeys(grid: Grid): {
  onKeyDown: (event: KeyboardEvent) => void;
  /** Moves the focus to a sample, as soon as it is drawn. */
  focus: (position: number) => void;
} {
  const { frame, columns, total } = grid;
  const wanted = useRef<number | null>(null);

  // a tile must be drawn before it can have the focus
  useEffect(() => {
    if (wanted.current !== null) {
      const tile = frame.current?.querySelector<HTMLElement>(
        `[data-tile="${wanted.current}"]`
      );
      if (tile) {
        wanted.current = null;
        tile.focus({ preventScroll: true });
      }
    }
  });

  const focus = (position: number) => {
    const to = Math.min(total - 1, Math.max(0, position));
    wanted.current = to;
    grid.setActive(to);
    grid.scrollTo(Math.floor(to / columns));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, grid.rows - 1) * columns;
    const isWhole = event.ctrlKey || event.metaKey;
    const start = grid.active - (grid.active % columns);
    const to: Record<string, number> = {
      ArrowRight: grid.active + 1,
      ArrowLeft: grid.active - 1,
      ArrowDown: grid.active + columns,
      ArrowUp: grid.active - columns,
      PageDown: grid.active + page,
      PageUp: grid.active - page,
      Home: isWhole ? 0 : start,
      End: isWhole ? total - 1 : start + columns - 1
    };
    if (event.key in to && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      focus(to[event.key]);
    }
  };
  return { onKeyDown, focus };
}

/** Whether the grid uses a key with Ctrl or Cmd, which the host must leave to it. */
export function takesTileKey(event: globalThis.KeyboardEvent): boolean {
  return (
    ['Home', 'End'].includes(event.key) &&
    (event.target as HTMLElement).matches('[data-tile]')
  );
}
