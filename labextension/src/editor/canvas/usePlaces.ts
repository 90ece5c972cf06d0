// Positions of a scene; the host arranges it if no node has a position.
import { useMemo } from 'react';

import { EditorHost } from '../host';
import { layoutRequest, Places } from './layout-request';
import { Direction } from './node-size';
import { Scene } from './scene';
import { isUnplaced, placeScene } from './scene-places';
import { useLayout } from './useLayout';

/** Positions of a scene; null until the first layout. */
export function usePlaces(
  scene: Scene,
  direction: Direction,
  host: EditorHost,
  isLoading: boolean,
  onFailure: (message: string) => void
): Places | null {
  const isArranged = isUnplaced(scene);
  const request = useMemo(
    () =>
      isArranged && !isLoading && Object.keys(scene.graph.nodes).length
        ? layoutRequest(scene, direction)
        : null,
    [scene, direction, isArranged, isLoading]
  );
  const layout = useLayout(host, request, onFailure, scene.within);
  return useMemo(() => {
    if (!request) {
      return isArranged && isLoading ? null : placeScene(scene, direction);
    }
    // Until the next layout, nodes keep their positions of the previous one.
    const known = Object.keys(request.nodes).filter(id => layout?.places[id]);
    return layout && known.length
      ? placeScene(
          scene,
          direction,
          Object.fromEntries(known.map(id => [id, layout.places[id]]))
        )
      : null;
  }, [scene, direction, isArranged, isLoading, request, layout]);
}
