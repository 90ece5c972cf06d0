// Layers of the host, loaded once and again on request.
import { useCallback, useEffect, useState } from 'react';

import { EditorHost } from '../host';
import { LayerTable } from '../model/graph-data';

interface Layers {
  layers: LayerTable;
  /** Error message if loading failed. */
  failure: string | null;
  /** True during the first loading. */
  isLoading: boolean;
  reload: () => void;
}

export function useLayers(host: EditorHost): Layers {
  const [layers, setLayers] = useState<LayerTable>(new Map());
  const [failure, setFailure] = useState<string | null>(null);
  const [isLoading, setLoading] = useState(true);
  const [round, setRound] = useState(0);

  useEffect(() => {
    let isCurrent = true;
    host.layers().then(
      list => {
        if (isCurrent) {
          setLayers(new Map(list.map(layer => [layer.type, layer])));
          setFailure(null);
          setLoading(false);
        }
      },
      (error: unknown) => {
        if (isCurrent) {
          setFailure(error instanceof Error ? error.message : String(error));
          setLoading(false);
        }
      }
    );
    return () => {
      isCurrent = false;
    };
  }, [host, round]);

  const reload = useCallback(() => setRound(count => count + 1), []);
  return { layers, failure, isLoading, reload };
}
