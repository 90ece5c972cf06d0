import {
  boundsOf,
  isUseful,
  pathOf,
  Rect,
  scaleFor,
  unionOf
} from '../overview-geometry';

const SIZE = { width: 150, height: 100 };
const row = (count: number): Rect[] =>
  Array.from({ length: count }, (_, at) => ({
    x: 260 * at,
    y: 0,
    width: 200,
    height: 60
  }));
const pieces = (path: string) =>
  [...path.matchAll(/M([\d.-]+) ([\d.-]+)h([\d.]+)v([\d.]+)/g)].map(match =>
    match.slice(1).map(Number)
  );

describe('overview', () => {
  it('has bounds around all nodes', () => {
    expect(boundsOf([])).toBeNull();
    expect(boundsOf(row(3))).toEqual({ x: 0, y: 0, width: 720, height: 60 });
    expect(
      unionOf(
        { x: 0, y: 0, width: 10, height: 10 },
        { x: -5, y: 4, width: 8, height: 20 }
      )
    ).toEqual({ x: -5, y: 0, width: 15, height: 24 });
  });

  it('shows the bounds in the middle, with a border', () => {
    const scale = scaleFor({ x: 100, y: 50, width: 280, height: 90 }, SIZE);
    expect(scale.units).toBe(2);
    expect(
      pieces(pathOf([{ x: 100, y: 50, width: 280, height: 90 }], scale))
    ).toEqual([[5, 27.5, 140, 45]]);
  });

  it('draws nodes that look the same once, and none smaller than a pixel', () => {
    const rects = row(5000);
    const scale = scaleFor(boundsOf(rects) as Rect, SIZE);
    const rectangles = pieces(pathOf(rects, scale));
    expect(rectangles.length).toBeLessThan(300);
    expect(rectangles.length).toBeGreaterThan(140);
    expect(
      rectangles.every(([, , width, height]) => width >= 1 && height >= 1)
    ).toBe(true);
    expect(rectangles[0][0]).toBe(5);
    expect(rectangles[rectangles.length - 1][0]).toBeCloseTo(145, 0);
  });

  it('is of use where nodes are out of view and none is under it', () => {
    const view = { width: 1000, height: 800 };
    const corner = { x: 830, y: 680, width: 170, height: 120 };
    const isShown = (rects: Rect[], x = 0, y = 0) =>
      isUseful(rects, [x, y, 1], view, corner);
    expect(isShown(row(3))).toBe(false); // all in view
    expect(isShown(row(5))).toBe(true);
    expect(isShown(row(5), 0, 700)).toBe(false); // one is under it
    expect(isShown(row(3), 0, 700)).toBe(false);
    expect(isShown(row(3), 500, 600)).toBe(true);
  });
});
