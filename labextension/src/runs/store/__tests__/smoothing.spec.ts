import { Smoother } from '../smoothing';

const smooth = (values: number[]) => {
  const smoother = new Smoother();
  const into = new Array<number>(values.length);
  const half = values.length >> 1;
  smoother.fill(values, into, 0, half);
  smoother.fill(values, into, half, values.length);
  return into;
};

describe('Smoother', () => {
  it('leaves a constant as it is, from the first value on', () => {
    smooth(Array(500).fill(0.7)).forEach(value =>
      expect(value).toBeCloseTo(0.7, 12)
    );
  });

  it('is never far behind a falling curve, in a short run and in a long one', () => {
    for (const length of [100, 1000, 20_000]) {
      const curve = Array.from(
        { length },
        (_, i) => 0.2 + 2 * Math.exp((-5 * i) / length)
      );
      smooth(curve).forEach((value, i) => {
        const behind = Math.max(3, Math.ceil(i / 10));
        expect(value).toBeGreaterThanOrEqual(curve[i]);
        expect(value).toBeLessThanOrEqual(curve[Math.max(0, i - behind)]);
      });
    }
  });

  it('calms noise', () => {
    const noisy = Array.from(
      { length: 2000 },
      (_, i) => 1 + (i % 2 ? 0.5 : -0.5)
    );
    smooth(noisy)
      .slice(1000)
      .forEach(value => expect(Math.abs(value - 1)).toBeLessThan(0.02));
  });

  it('passes over what is not a number', () => {
    const [first, gap, after] = smooth([1, NaN, 1]);
    expect([first, after]).toEqual([1, 1]);
    expect(gap).toBeNaN();
  });
});
