// Columns that a person has shown or hidden, stored in the browser.

import { useState } from 'react';
import type { RunColumn } from './columns';

const KEY = 'labdl:runs-columns';
/** Maximum number of stored choices. The oldest are dropped, since their settings may not exist any more. */
const MOST = 200;

type Choice = Readonly<Record<string, boolean>>;

export interface ColumnChoice {
  isShown: (column: RunColumn) => boolean;
  toggle: (column: RunColumn) => void;
  /** Whether columns with the same value in all runs are shown. */
  showsConstant: boolean;
  toggleConstant: () => void;
}

export function useColumnChoice(): ColumnChoice {
  const [choice, setChoice] = useState<Choice>(readChoice);
  const [showsConstant, setConstant] = useState(false);
  const isShown = (column: RunColumn) =>
    choice[column.id] ??
    (column.isShown || (showsConstant && column.isConstant));
  const toggle = (column: RunColumn) => {
    const { [column.id]: before = isShown(column), ...others } = choice;
    const next = Object.fromEntries(
      [...Object.entries(others), [column.id, !before]].slice(-MOST)
    );
    setChoice(next);
    try {
      localStorage.setItem(KEY, JSON.stringify(next));
    } catch {
      // No storage in this browser: the choice is lost on reload.
    }
  };
  return {
    isShown,
    toggle,
    showsConstant,
    toggleConstant: () => setConstant(!showsConstant)
  };
}

function readChoice(): Choice {
  try {
    const content: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return Object.fromEntries(
      Object.entries(content ?? {}).filter(([, shown]) => typeof shown === 'boolean') // prettier-ignore
    ) as Choice;
  } catch {
    return {}; // unknown content, or storage is not allowed
  }
}
