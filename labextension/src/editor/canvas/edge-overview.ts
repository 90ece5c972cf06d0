// All edges of a large graph as one path, for zoom levels at which edges cannot be clicked.
import { Position as Side } from '@xyflow/react';

import { edgePath } from './edge-path';
import { LayerFlowEdge, LayerFlowNode } from './react-flow';
import { NODE_SIZE } from './node-size';

/** Zoom below which nodes are too small to work with. */
export const FAR = 0.3;

interface Known {
  source: LayerFlowNode;
  target: LayerFlowNode;
  path: string;
}

/** Paths of edges, recomputed only for nodes that changed. */
export class EdgeLines {
  /** Edges at dragged nodes are separate, so that the others are painted once. */
  lines(
    nodes: LayerFlowNode[],
    edges: LayerFlowEdge[]
  ): { still: string; moving: string } {
    const byId = new Map(nodes.map(node => [node.id, node]));
    const known = new Map<string, Known>();
    const still: string[] = [];
    const moving: string[] = [];
    for (const edge of edges) {
      const source = byId.get(edge.source);
      const target = byId.get(edge.target);
      if (!source || !target) {
        continue;
      }
      const before = this._cache.get(edge.id);
      const entry =
        before?.source === source && before.target === target
          ? before
          : { source, target, path: pathOf(edge, source, target) };
      known.set(edge.id, entry);
      const isMoving = source.dragging || target.dragging;
      (isMoving ? moving : still).push(entry.path);
    }
    this._cache = known;
    return { still: still.join(''), moving: moving.join('') };
  }

  private _cache = new Map<string, Known>();
}

function pathOf(
  edge: LayerFlowEdge,
  source: LayerFlowNode,
  target: LayerFlowNode
): string {
  const sourcePosition = source.sourcePosition ?? Side.Bottom;
  const targetPosition = target.targetPosition ?? Side.Top;
  const [sourceX, sourceY] = portAt(source, edge.sourceHandle, 'outputs');
  const [targetX, targetY] = portAt(target, edge.targetHandle, 'inputs');
  return edgePath({
    sourceX,
    sourceY,
    targetX,
    targetY,
    sourcePosition,
    targetPosition
  });
}

function portAt(
  node: LayerFlowNode,
  port: string | null | undefined,
  side: 'inputs' | 'outputs'
): [number, number] {
  const { x, y } = node.position;
  const width = node.measured?.width ?? NODE_SIZE.width;
  const height = node.measured?.height ?? NODE_SIZE.height;
  const ports = node.data.ports[side];
  const at = Math.max(
    0,
    ports.findIndex(({ name }) => name === port)
  );
  const part = (at + 0.5) / Math.max(1, ports.length);
  const isDown = (node.sourcePosition ?? Side.Bottom) === Side.Bottom;
  const along = side === 'outputs' ? 1 : 0;
  return isDown
    ? [x + width * part, y + height * along]
    : [x + width * along, y + height * part];
}
