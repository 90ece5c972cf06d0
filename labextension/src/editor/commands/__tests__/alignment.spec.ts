// Tests of aligning and distributing selected nodes.
import { alignNodes, Alignment, Place } from '../alignment';

const place = (x: number, y: number, width = 200, height = 60): Place => ({
  position: [x, y],
  size: { width, height }
});

const NODES = {
  a: place(0, 0),
  b: place(100, 200, 100, 100),
  c: place(400, 90)
};

describe('aligned', () => {
  it.each<[Alignment, number[], number[]]>([
    ['left', [0, 0, 0], [0, 200, 90]],
    ['center', [200, 250, 200], [0, 200, 90]],
    ['right', [400, 500, 400], [0, 200, 90]],
    ['top', [0, 100, 400], [0, 0, 0]],
    ['middle', [0, 100, 400], [120, 100, 120]],
    ['bottom', [0, 100, 400], [240, 200, 240]],
    ['spread-across', [0, 250, 400], [0, 200, 90]],
    ['spread-down', [0, 100, 400], [0, 200, 100]]
  ])('%s', (how, xs, ys) => {
    const found = alignNodes(NODES, how);
    expect(['a', 'b', 'c'].map(id => found[id][0])).toEqual(xs);
    expect(['a', 'b', 'c'].map(id => found[id][1])).toEqual(ys);
  });

  it('spreads nodes that overlap evenly, too', () => {
    const nodes = { a: place(0, 0), b: place(10, 0), c: place(20, 0) };
    expect(alignNodes(nodes, 'spread-across')).toEqual(
      Object.fromEntries(
        Object.entries(nodes).map(([id, n]) => [id, n.position])
      )
    );
  });
});
