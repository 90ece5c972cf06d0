// Follows the run of a document while its editor is mounted.
import { useEffect, useMemo } from 'react';

import { GraphDocument } from '../model/document';
import { HealthStore } from './health-store';
import { HealthWatch } from './health-watch';
import { EditorHost } from '../host';

export function useHealth(
  document: GraphDocument,
  host: EditorHost,
  tell?: (store: HealthStore) => void
): HealthWatch {
  const health = useMemo(
    () => new HealthWatch(document, host),
    [document, host]
  );
  useEffect(() => health.start(), [health]);
  useEffect(() => tell?.(health.store), [health, tell]);
  return health;
}
