import { Series } from '../series';
import { Smoother } from '../smoothing';

/** Random values with gaps, reproducible by the seed. */
function stream(seed: number, length: number, gaps = 0.01) {
  let state = seed * 2654435761 + 1;
  const random = () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + seed) | 0;
    return (state >>> 8) / 2 ** 24;
  };
  const x = Array.from({ length }, (_, i) => i + 1);
  const y = x.map(() => (random() < gaps ? NaN : random() ** 3 * 100 - 20));
  return { x, y };
}

const ascending = (x: ArrayLike<number>) =>
  Array.from(x).every((value, i, all) => i === 0 || value > all[i - 1]);

describe('Series', () => {
  it('keeps every point as long as there is room', () => {
    const { x, y } = stream(1, 1000);
    const series = new Series();
    series.push(x, y);
    expect([...series.x]).toEqual(x);
    expect([...series.y]).toEqual(y);
  });

  it.each([
    [1, 1000, 64],
    [2, 5003, 64],
    [3, 40_001, 256],
    [4, 99_999, 1024],
    [5, 20_000, 8],
    [6, 777, 16]
  ])('is bounded and loses no extreme (seed %i)', (seed, length, most) => {
    const { x, y } = stream(seed, length);
    const series = new Series({ most, smoothed: true });
    for (let from = 0; from < length; from += 37) {
      series.push(x.slice(from, from + 37), y.slice(from, from + 37));
      expect(series.length).toBeLessThanOrEqual(Math.max(256, most));
    }
    const kept = [...series.y].filter(Number.isFinite);
    const finite = y.filter(Number.isFinite);
    expect(Math.min(...kept)).toBe(Math.min(...finite));
    expect(Math.max(...kept)).toBe(Math.max(...finite));
    expect(ascending(series.x)).toBe(true);
    // stored points are points of the stream
    series.x.forEach((at, i) => expect(series.y[i]).toBe(y[at - 1]));
    expect(series.lastX).toBe(length);
    expect(series.last()).toBe(y[length - 1]);
  });

  it('is as fine at its beginning as at its end', () => {
    const { x, y } = stream(7, 100_000, 0);
    const series = new Series({ most: 1024 });
    series.push(x, y);
    const { stride } = series;
    expect(stride).toBeGreaterThanOrEqual((2 * 100_000) / 1024);
    expect(stride).toBeLessThanOrEqual((8 * 100_000) / 1024);
    const full = Math.floor(100_000 / stride);
    for (let bucket = 0; bucket < full; bucket++) {
      const part = y.slice(bucket * stride, (bucket + 1) * stride);
      const two = [series.y[2 * bucket], series.y[2 * bucket + 1]];
      expect(Math.min(...two)).toBe(Math.min(...part));
      expect(Math.max(...two)).toBe(Math.max(...part));
    }
  });

  it('keeps a gap that is as wide as what is kept', () => {
    const x = Array.from({ length: 50_000 }, (_, i) => i + 1);
    const y = x.map(at => (at > 20_000 && at <= 22_000 ? null : 1));
    const series = new Series({ most: 1024 });
    series.push(x, y);
    const gap = [...series.x].filter((_, i) => Number.isNaN(series.y[i]));
    expect(gap.length).toBeGreaterThan(4);
    expect(gap[0]).toBeLessThan(20_000 + 2 * series.stride);
    expect(gap[gap.length - 1]).toBeGreaterThan(22_000 - 2 * series.stride);
  });

  it('smooths the stream, not what is left of it', () => {
    const { x, y } = stream(8, 30_000);
    const series = new Series({ most: 512, smoothed: true });
    const smoother = new Smoother();
    const smooth = new Float64Array(y.length);
    smoother.fill(y, smooth, 0, y.length);
    series.push(x, y);
    series.x.forEach((at, i) =>
      expect(series.smooth('normal')[i]).toBeCloseTo(smooth[at - 1], 3)
    );
    expect(series.smooth('none')).toEqual(series.y);
    expect(series.last('normal')).toBeCloseTo(smooth[29_999], 3);
  });

  it.each([0, 1, 2, 499, 500, 19_999, 20_000, 30_000])(
    'goes on from step %i',
    step => {
      const { x, y } = stream(9, 20_000);
      const series = new Series({ most: 512, smoothed: true });
      series.push(x, y);
      series.cut(step);
      expect([...series.x].every(at => at <= step)).toBe(true);
      const more = x.map(at => at + step);
      series.push(more, y);
      expect(ascending(series.x)).toBe(true);
      expect(series.length).toBeLessThanOrEqual(512);
      expect(series.lastX).toBe(20_000 + step);
      expect([...series.x].some(at => at > step)).toBe(true);
      const finite = y.filter(Number.isFinite);
      expect(Math.max(...[...series.y].filter(Number.isFinite))).toBe(
        Math.max(...finite)
      );
    }
  );

  it('leaves out points that do not come after the last one', () => {
    const series = new Series();
    series.push([1, 2, 2, 1, 3, NaN], [1, 2, 3, 4, 5, 6]);
    expect([...series.y]).toEqual([1, 2, 5]);
  });

  it('keeps a million points of two curves within its bound', () => {
    const length = 1_000_000;
    const x = Float64Array.from({ length }, (_, i) => i + 1);
    const y = Float32Array.from(x, at => Math.sin(at));
    for (let curve = 0; curve < 2; curve++) {
      const series = new Series({ smoothed: true });
      series.push(x, y);
      expect(series.length).toBeLessThanOrEqual(2 ** 17);
    }
  });
});
