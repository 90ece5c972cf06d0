// Whether the document may be edited now, for the parts of the editor.
import { useSyncExternalStore } from 'react';

import { GraphDocument } from './document';
import { Lock } from './lock';

export function useLock({ lock }: GraphDocument): Lock | null {
  return useSyncExternalStore(lock.subscribe, lock.state);
}
