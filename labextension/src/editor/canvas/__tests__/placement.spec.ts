// Tests of positions for nodes without one, and of the direction of a graph.
import { EdgeData, NodeData, Position } from '../../model/graph-data';
import { NODE_SIZE } from '../node-size';
import { directionOf, freePlace, placeAll } from '../placement';

interface Small {
  nodes: { [id: string]: NodeData };
  edges: { [id: string]: EdgeData };
}

/** "a>b b>c d" */
function graph(text: string): Small {
  const made: Small = { nodes: {}, edges: {} };
  text.split(' ').forEach((part, index) => {
    const [source, target] = part.split('>');
    for (const id of target ? [source, target] : [source]) {
      made.nodes[id] = { type: 'T', name: id, params: {} };
    }
    if (target) {
      made.edges[`e${index}`] = {
        source,
        source_port: 'o',
        target,
        target_port: 'x'
      };
    }
  });
  return made;
}

function overlaps(positions: { [id: string]: Position }): number {
  const all = Object.values(positions).sort((a, b) => a[1] - b[1]);
  let count = 0;
  all.forEach(([x, y], index) => {
    for (let other = index + 1; other < all.length; other++) {
      if (all[other][1] - y >= NODE_SIZE.height) {
        break;
      }
      count += Math.abs(all[other][0] - x) < NODE_SIZE.width ? 1 : 0;
    }
  });
  return count;
}

describe('placement', () => {
  const whole = (text: string, positions: { [id: string]: Position }) => ({
    ...graph(text),
    version: 1,
    name: '',
    positions
  });

  it('keeps the positions there are and finds places for the rest', () => {
    const places = placeAll(whole('a>b b>c a>d', { a: [100, 100] }), 'down');
    expect(places.a).toEqual([100, 100]);
    expect(places.b[1]).toBeGreaterThan(100);
    expect(places.c[1]).toBeGreaterThan(places.b[1]);
    expect(overlaps(places)).toBe(0);
  });

  it('gives back the very positions if none is missing', () => {
    const full = whole('a>b', { a: [0, 0], b: [0, 100] });
    expect(placeAll(full, 'down')).toBe(full.positions);
  });

  it('finds the direction again', () => {
    const down = whole('a>b b>c a>c', { a: [0, 0], b: [9, 99], c: [0, 200] });
    expect(directionOf(down, 'right')).toBe('down');
    const right = whole('a>b b>c', { a: [0, 0], b: [300, 9], c: [600, 0] });
    expect(directionOf(right)).toBe('right');
    expect(directionOf(whole('a>b', {}), 'right')).toBe('right');
  });

  it('does not cover another node', () => {
    // a node with a problem is higher than others
    const high = freePlace(
      [0, 100],
      { a: [0, 0], b: [300, 0] },
      'down',
      id => ({ ...NODE_SIZE, height: id === 'a' ? 120 : NODE_SIZE.height })
    );
    expect(high[0]).toBeGreaterThanOrEqual(NODE_SIZE.width);
    const place = freePlace([0, 0], { a: [0, 0], b: [230, 10] }, 'down');
    expect(overlaps({ a: [0, 0], b: [230, 10], c: place })).toBe(0);
  });
});
