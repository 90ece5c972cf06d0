// Scene to draw: the whole graph, or the inside of the entered block.
import { useEffect, useMemo, useRef, useState } from 'react';

import { GraphDocument } from '../model/document';
import { GraphData, LayerTable } from '../model/graph-data';
import { isInside, parentOf } from '../model/paths';
import { Scene, sceneOf } from './scene';

export function useScene(
  document: GraphDocument,
  graph: GraphData,
  layers: LayerTable
) {
  const [wanted, setWithin] = useState('');
  const within = useMemo(() => nearest(graph, wanted), [graph, wanted]);
  const old = useRef<Scene | undefined>(undefined);
  const scene = useMemo(
    () => sceneOf(graph, layers, within, old.current),
    [graph, layers, within]
  );
  useEffect(() => {
    old.current = scene;
  }, [scene]);
  /** The scene of the current document, which may be newer than the rendered one. */
  const sceneNow = () => {
    const latest = document.snapshot();
    return latest === graph
      ? scene
      : sceneOf(latest, layers, nearest(latest, wanted), scene);
  };
  return { scene, sceneNow, setWithin };
}

/** The block, or the nearest block around it that still exists. */
function nearest(graph: GraphData, path: string): string {
  if (!path) {
    return path;
  }
  const names = Object.values(graph.nodes).map(node => node.name);
  let found = path;
  while (found && !names.some(name => isInside(name, found))) {
    found = parentOf(found);
  }
  return found;
}
