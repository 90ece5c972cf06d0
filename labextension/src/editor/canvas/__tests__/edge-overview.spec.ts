// Tests of the combined edge path: same lines as React Flow, recomputed only for moved nodes.
import { EdgeLines } from '../edge-overview';
import { edgePath } from '../edge-path';
import { flowEdges, flowNodes, View } from '../react-flow';
import { SIDES } from '../handles';
import { NODE_SIZE } from '../node-size';
import { GraphData } from '../../model/graph-data';
import { sceneOf } from '../scene';

jest.mock('../edge-path', () => ({
  edgePath: jest.fn(jest.requireActual('../edge-path').edgePath)
}));

const GRAPH: GraphData = {
  version: 2,
  name: '',
  nodes: {
    a: { type: 'In', name: 'a', params: {} },
    b: { type: 'Mid', name: 'b', params: {} },
    c: { type: 'Out', name: 'c', params: {} }
  },
  edges: {
    e: { source: 'a', source_port: 'out', target: 'b', target_port: 'x' },
    f: { source: 'b', source_port: 'out', target: 'c', target_port: 'x' }
  },
  positions: { a: [0, 0], b: [30, 100], c: [60, 200] }
};

const view: View = {
  whole: GRAPH,
  scene: sceneOf(GRAPH, new Map(), ''),
  graph: GRAPH,
  places: GRAPH.positions,
  layers: new Map(),
  selected: { nodes: new Set(), edges: new Set() },
  direction: 'down'
};

describe('the lines of all edges', () => {
  const nodes = flowNodes(view, new Map());
  const edges = flowEdges(
    view.graph.edges,
    new Set(),
    { broken: new Set(), faulty: new Set(), dropOn: null },
    new Map()
  );
  const { width, height } = NODE_SIZE;
  const first = () =>
    edgePath({
      sourceX: width / 2,
      sourceY: height,
      targetX: 30 + width / 2,
      targetY: 100,
      sourcePosition: SIDES.down.out,
      targetPosition: SIDES.down.in
    });

  it('run from port to port', () => {
    const { still } = new EdgeLines().lines(nodes, edges);
    expect(still.startsWith(first())).toBe(true);
    expect(still.match(/M/g)).toHaveLength(2);
  });

  it('are computed again for a node that moved, and for no other', () => {
    const lines = new EdgeLines();
    const before = lines.lines(nodes, edges);
    const moved = [
      nodes[0],
      nodes[1],
      { ...nodes[2], dragging: true, position: { x: 90, y: 200 } }
    ];
    (edgePath as jest.Mock).mockClear();
    const after = lines.lines(moved, edges);
    expect(edgePath).toHaveBeenCalledTimes(1);
    expect(after.still).toBe(first());
    expect(before.still).not.toContain(after.moving);
  });

  it('leave out what has an end that is not drawn', () => {
    expect(new EdgeLines().lines(nodes.slice(0, 2), edges).still).toBe(first());
  });
});
