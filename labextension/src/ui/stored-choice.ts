// A choice that the browser remembers.

import { useState } from 'react';

/** The choice among `all`, and how to change it; `first` where nothing is remembered. */
export function useStoredChoice<T extends string>(
  name: string,
  all: readonly T[],
  first: T
): [choice: T, choose: (choice: T) => void] {
  const [choice, setChoice] = useState<T>(() => {
    const kept = read(name) as T | null;
    return kept !== null && all.includes(kept) ? kept : first;
  });
  return [
    choice,
    next => {
      setChoice(next);
      write(name, next);
    }
  ];
}

function read(name: string): string | null {
  try {
    return localStorage.getItem(`labdl:${name}`);
  } catch {
    return null; // a page that may not keep anything
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(`labdl:${name}`, value);
  } catch {
    // a page that may not keep anything
  }
}
