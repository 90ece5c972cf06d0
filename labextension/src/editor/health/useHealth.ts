// Follows the run that trains a document for as long as its editor is on the page.
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
