// React hook for the lock of the document.
import { useSyncExternalStore } from 'react';

import { GraphDocument } from './document';
import { Lock } from './lock';

export function useLock({ lock }: GraphDocument): Lock | null {
  return useSyncExternalStore(lock.subscribe, lock.state);
}
