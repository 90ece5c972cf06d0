// React hook for the pages of samples of a class, at a size of pictures.

import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { DataHost } from '../host';
import { SamplePages } from './sample-pages';

export function useSamplePages(
  host: DataHost,
  label: string | null,
  size: number,
  all: number
): SamplePages {
  const pages = useMemo(
    () =>
      new SamplePages(
        (start, count, signal) =>
          host.samples({ start, count, label, size }, signal),
        label === null ? all : null
      ),
    [host, label, size, all]
  );
  useEffect(() => () => pages.dispose(), [pages]);
  useSyncExternalStore(pages.subscribe, pages.version);
  return pages;
}
