// Keys in the table of runs: move, select, open, and select ranges with Shift.

import type { Row } from '@tanstack/react-table';
import type { Virtualizer } from '@tanstack/react-virtual';
import {
  useEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type RefObject
} from 'react';
import type { Cells } from './cells';
import type { Brief } from './runs-source';

interface Chosen {
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
  cells: Cells;
}

export interface RowKeys {
  focused: string | null;
  setFocused: (id: string) => void;
  toggle: (id: string, withRange: boolean) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

/** Number of rows that a key moves. */
const MOVES: Readonly<Record<string, number>> = {
  ArrowUp: -1,
  ArrowDown: 1,
  PageUp: -10,
  PageDown: 10,
  Home: -Infinity,
  End: Infinity
};

/** Elements that handle the keys. */
const ROW = 'tr[data-row]';

type Stroke = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey'>;

function isSelectAll({ key, ctrlKey, metaKey }: Stroke): boolean {
  return key === 'a' && (ctrlKey || metaKey);
}

/** Whether a row uses a key with Ctrl or Cmd, which the host must leave to it. */
export function takesRowKey(event: globalThis.KeyboardEvent): boolean {
  return isSelectAll(event) && (event.target as HTMLElement).matches(ROW);
}

export function useRowKeys(
  frame: RefObject<HTMLElement>,
  rows: readonly Row<Brief>[],
  virtual: Virtualizer<HTMLDivElement, Element>,
  { selected, onSelect, cells }: Chosen
): RowKeys {
  const [focused, setFocused] = useState<string | null>(null);
  const wanted = useRef<string | null>(null);
  const anchor = useRef<string | null>(null);

  // the row must be rendered before it can have the focus
  useEffect(() => {
    if (wanted.current !== null) {
      const row = [
        ...(frame.current?.querySelectorAll<HTMLElement>('tr[data-row]') ?? [])
      ].find(element => element.dataset.row === wanted.current);
      if (row) {
        wanted.current = null;
        row.focus();
      }
    }
  });

  const at = (id: string | null) => rows.findIndex(row => row.id === id);

  const toggle = (id: string, withRange: boolean) => {
    const next = new Set(selected);
    const isOn = !selected.has(id);
    const ends = [at(withRange ? anchor.current : id), at(id)].filter(
      i => i >= 0
    );
    for (let i = Math.min(...ends); i <= Math.max(...ends); i++) {
      if (!rows[i].getIsGrouped()) {
        next[isOn ? 'add' : 'delete'](rows[i].id);
      }
    }
    anchor.current = id;
    onSelect(next);
  };

  const move = (event: KeyboardEvent, by: number) => {
    const from = Math.max(0, at(focused));
    const to = Math.min(rows.length - 1, Math.max(0, from + by));
    const { id } = rows[to];
    if (event.shiftKey && Math.abs(by) === 1) {
      onSelect(
        new Set([
          ...selected,
          ...[rows[from], rows[to]]
            .filter(r => !r.getIsGrouped())
            .map(r => r.id)
        ])
      );
    }
    wanted.current = id;
    setFocused(id);
    virtual.scrollToIndex(to);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const element = event.target as HTMLElement;
    if (!rows.length || !element.matches(ROW)) {
      return; // fields and buttons in a row handle their own keys
    }
    const row = rows[at(focused)];
    const run = row && !row.getIsGrouped() ? row.original : null;
    if (event.key in MOVES) {
      move(event, MOVES[event.key]);
    } else if (isSelectAll(event)) {
      onSelect(new Set(rows.filter(r => !r.getIsGrouped()).map(r => r.id)));
    } else if (
      row &&
      !run &&
      ['Enter', ' ', 'ArrowLeft', 'ArrowRight'].includes(event.key)
    ) {
      row.toggleExpanded(
        event.key === 'ArrowLeft'
          ? false
          : event.key === 'ArrowRight'
            ? true
            : undefined
      );
    } else if (run && event.key === ' ') {
      toggle(run.path, event.shiftKey);
    } else if (run && event.key === 'Enter') {
      cells.open?.(run);
    } else if (run && event.key === 'F2') {
      cells.rename?.(run);
    } else if (run && event.key === 'Delete') {
      cells.remove?.(run);
    } else {
      return;
    }
    event.preventDefault();
    // JupyterLab has shortcuts for some of these keys
    event.stopPropagation();
  };

  return { focused, setFocused, toggle, onKeyDown };
}
