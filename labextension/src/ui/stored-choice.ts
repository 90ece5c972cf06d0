// Choice that is stored in the browser.

import { useState } from 'react';

/** The stored choice among `all` with its setter; `first` by default. */
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
    return null; // the page has no storage
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(`labdl:${name}`, value);
  } catch {
    // the page has no storage
  }
}
