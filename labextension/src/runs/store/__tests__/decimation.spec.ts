import { align, decimate } from '../decimation';

/** Seeded random generator, so that a failure can be reproduced. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

describe('decimate', () => {
  it.each(Array.from({ length: 60 }, (_, seed) => seed + 1))(
    'keeps the outline of random curve %i',
    seed => {
      const next = numbers(seed);
      const length = 1 + Math.floor(next() * 9000);
      const limit = 4 + Math.floor(next() * 2000);
      const gaps = next() < 0.5 ? 0.1 : 0;
      const y = Float64Array.from({ length }, () =>
        next() < gaps ? NaN : next() * 10 - 5
      );
      const kept = Array.from(decimate(y, 0, length, limit));

      expect(kept.length).toBeLessThanOrEqual(
        Math.max(limit, length <= limit ? length : 0)
      );
      expect(kept).toEqual([...new Set(kept)].sort((a, b) => a - b));
      expect(kept[0]).toBe(0);
      expect(kept[kept.length - 1]).toBe(length - 1);
      const finite = (values: Iterable<number>) =>
        Array.from(values).filter(Number.isFinite);
      const all = finite(y);
      if (all.length) {
        const shown = finite(kept.map(i => y[i]));
        expect(Math.min(...shown)).toBe(Math.min(...all));
        expect(Math.max(...shown)).toBe(Math.max(...all));
      }
    }
  );

  it('leaves a short curve as it is', () => {
    expect(Array.from(decimate([3, 1, 2], 0, 3, 2000))).toEqual([0, 1, 2]);
    expect(Array.from(decimate([], 0, 0, 2000))).toEqual([]);
  });

  it('keeps within the window asked for', () => {
    const y = Float64Array.from({ length: 10_000 }, (_, i) => i);
    const kept = Array.from(decimate(y, 2000, 9000, 100));
    expect(kept[0]).toBe(2000);
    expect(kept[kept.length - 1]).toBe(8999);
    expect(kept.length).toBeLessThanOrEqual(100);
  });

  it('shows a gap that fills a bucket', () => {
    const y = Float64Array.from({ length: 10_000 }, (_, i) =>
      i > 4000 && i < 6000 ? NaN : 1
    );
    const kept = Array.from(decimate(y, 0, y.length, 200));
    expect(kept.some(i => Number.isNaN(y[i]))).toBe(true);
  });
});

describe('align', () => {
  it('gives every curve a place at every step', () => {
    const table = align([
      { x: [1, 2, 3], y: [0.1, NaN, 0.3] },
      { x: [2, 4], y: [7, 8] },
      { x: [], y: [] }
    ]);
    expect(table).toEqual([
      [1, 2, 3, 4],
      [0.1, null, 0.3, undefined],
      [undefined, 7, undefined, 8],
      [undefined, undefined, undefined, undefined]
    ]);
  });
});
