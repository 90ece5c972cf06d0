// Positions that the host computes for a layout request.
import { useEffect, useRef, useState } from 'react';

import { EditorHost } from '../host';
import { sameJson } from '../model/graph-data';
import { LayoutRequest, Places, placesInRow } from './layout-request';

export interface Layout {
  request: LayoutRequest;
  places: Places;
  scope: string;
}

/**
 * The host's last layout in this scope; null before the first one. If the host fails, the failure is reported and the
 * nodes are placed in one row.
 */
export function useLayout(
  host: EditorHost,
  request: LayoutRequest | null,
  onFailure: (message: string) => void,
  scope = ''
): Layout | null {
  const [layout, setLayout] = useState<Layout | null>(null);
  const latest = useRef(layout);
  useEffect(() => {
    if (
      !request ||
      (latest.current?.scope === scope && isLayoutOf(latest.current, request))
    ) {
      return;
    }
    let isCurrent = true;
    const set = (places: Places) => {
      if (isCurrent) {
        latest.current = { request, places, scope };
        setLayout(latest.current);
      }
    };
    host.layout(request).then(set, (error: unknown) => {
      set(placesInRow(request));
      onFailure(error instanceof Error ? error.message : String(error));
    });
    return () => {
      isCurrent = false;
    };
  }, [host, request, onFailure, scope]);
  return layout?.scope === scope ? layout : null;
}

/** Whether a layout is the answer to a request. */
export function isLayoutOf(
  layout: Layout | null,
  request: LayoutRequest
): layout is Layout {
  return sameJson(layout?.request, request);
}
