// The layered layout: order, no overlap, large graphs.
import { layout, NODE_SIZE } from '../layout';
import { EdgeData, NodeData, Position } from '../model';
import { directionOf, freePlace, placeAll } from '../placement';
import { spread } from '../spread';

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

describe('layout', () => {
  it('puts every node below those that feed it, chains straight', () => {
    const at = layout(graph('a>b b>c c>d'), 'down');
    expect(at.a).toEqual([0, 0]);
    expect(new Set(Object.values(at).map(([x]) => x)).size).toBe(1);
    expect(at.a[1] < at.b[1] && at.b[1] < at.c[1]).toBe(true);
  });

  it('runs to the right as well', () => {
    const at = layout(graph('a>b b>c'), 'right');
    expect(at.a[0] < at.b[0] && at.b[0] < at.c[0]).toBe(true);
    expect(at.a[1]).toBe(at.c[1]);
  });

  it('sets branches side by side without overlap, the join between them', () => {
    const at = layout(graph('a>b a>c a>d b>j c>j d>j'), 'down');
    expect(at.b[1]).toBe(at.c[1]);
    expect(overlaps(at)).toBe(0);
    expect(at.j[0]).toBe(at.a[0]);
  });

  it('puts a late source right above its reader', () => {
    const at = layout(graph('a>b b>c c>d s>d'), 'down');
    expect(at.s[1]).toBe(at.c[1]);
  });

  it('respects the sizes of nodes', () => {
    const size = { width: 100, height: 300 };
    const at = layout(graph('a>b'), 'down', () => size);
    expect(at.b[1] - at.a[1]).toBeGreaterThan(300);
  });

  it('survives a loop and an edge to nowhere', () => {
    const at = layout(graph('a>b b>c c>a d>d'), 'down');
    expect(Object.keys(at)).toHaveLength(4);
    expect(overlaps(at)).toBe(0);
  });

  it('packs loose nodes into a block', () => {
    const loose = Array.from({ length: 40 }, (_, n) => `n${n}`).join(' ');
    const at = layout(graph(loose), 'down');
    expect(overlaps(at)).toBe(0);
    expect(new Set(Object.values(at).map(([, y]) => y)).size).toBeGreaterThan(
      3
    );
  });

  it('is the same every time', () => {
    const net = graph('a>b a>c b>d c>d d>e a>e');
    expect(layout(net, 'down')).toEqual(layout(net, 'down'));
  });

  it('handles a chain of 2,000', () => {
    const chain = Array.from({ length: 2000 }, (_, n) => `n${n}>n${n + 1}`);
    const at = layout(graph(chain.join(' ')), 'down');
    expect(overlaps(at)).toBe(0);
  });

  it('lays out 1,000 nodes with skips in well under 300 ms', () => {
    const parts: string[] = [];
    for (let n = 0; n < 1000; n++) {
      parts.push(`n${n}>n${n + 1}`, `n${n}>n${n + 2 + (n % 5)}`);
    }
    const net = graph(parts.join(' '));
    layout(net, 'down'); // compiled by then
    const start = performance.now();
    layout(net, 'down');
    expect(performance.now() - start).toBeLessThan(300);
  });
});

describe('spread', () => {
  it('leaves wishes alone that are far enough apart', () => {
    const wishes = [0, 50, 200].map(at => ({ at, width: 20 }));
    expect(spread(wishes, 10)).toEqual([0, 50, 200]);
  });

  it('moves crowded ones apart around their middle', () => {
    const wishes = [5, 5, 5].map(at => ({ at, width: 20 }));
    expect(spread(wishes, 10)).toEqual([-25, 5, 35]);
  });
});

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
    const net = graph('a>b b>c a>c');
    for (const direction of ['down', 'right'] as const) {
      const positions = layout(net, direction);
      expect(directionOf({ ...whole('a', {}), ...net, positions })).toBe(
        direction
      );
    }
  });

  it('does not cover another node', () => {
    const place = freePlace([0, 0], { a: [0, 0], b: [230, 10] }, 'down');
    expect(overlaps({ a: [0, 0], b: [230, 10], c: place })).toBe(0);
  });
});
