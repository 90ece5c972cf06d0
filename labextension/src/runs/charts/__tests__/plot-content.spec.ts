import { csv, metricTable } from '../chart-table';
import { Clock } from '../../store/clock';
import { outline } from '../../store/decimation';
import { metricContent, stackContent } from '../plot-content';
import { Series } from '../../store/series';
import { xAxis } from '../x-axis';

function metric(length: number, values: (step: number) => number | null) {
  const train = new Series({ smoothed: true });
  const x = Array.from({ length }, (_, i) => i + 1);
  train.push(x, x.map(values));
  const validation = new Series();
  validation.push([length / 2, length], [7, 8]);
  return { name: 'loss', train, epochs: new Series(), validation };
}

const FRAME = { extent: null, marks: [] };
const defined = (column: readonly unknown[]) =>
  column.filter(value => value !== undefined);

describe('metricContent', () => {
  it('is a raw line while there is a pixel for every point', () => {
    const content = metricContent(
      metric(100, s => s),
      'normal',
      false,
      FRAME
    );
    const [x, low, high, raw, smooth, validation] = content.columns(
      [1, 100],
      400
    );
    expect(x).toHaveLength(100);
    expect(defined(low)).toEqual([]);
    expect(defined(high)).toEqual([]);
    expect(defined(raw)).toEqual(x);
    expect(defined(smooth)).toHaveLength(100);
    expect(defined(validation)).toEqual([7, 8]);
  });

  it('is a band of the lowest and the highest where there are more', () => {
    const content = metricContent(
      metric(10_000, s => (s === 5003 ? -50 : s === 7001 ? 50 : (s % 7) - 3)),
      'normal',
      false,
      FRAME
    );
    const [x, low, high, raw, smooth] = content.columns([1, 10_000], 200);
    expect(x.length).toBeLessThanOrEqual(202);
    expect(defined(raw)).toEqual([]);
    expect(Math.min(...(defined(low) as number[]))).toBe(-50);
    expect(Math.max(...(defined(high) as number[]))).toBe(50);
    expect(Math.max(...(defined(smooth) as number[]))).toBeLessThan(5);
  });

  it('shows single points again when somebody looks closer', () => {
    const content = metricContent(
      metric(10_000, s => s),
      'none',
      false,
      FRAME
    );
    const [, , , raw] = content.columns([5000, 5050], 200);
    expect(defined(raw)).toEqual(
      Array.from({ length: 53 }, (_, i) => 4999 + i)
    );
  });

  it('leaves a gap where nothing is finite, and where a logarithm would not be', () => {
    const content = metricContent(
      metric(10_000, s => (s > 4000 && s < 6000 ? null : s < 1000 ? -1 : 1)),
      'normal',
      true,
      FRAME
    );
    const [x, low, , , smooth] = content.columns([1, 10_000], 200);
    const gaps = x.filter((_, i) => low[i] === null && smooth[i] === null);
    expect(gaps.some(step => step > 4100 && step < 5900)).toBe(true);
    expect(x.some((step, i) => step < 900 && low[i] === null)).toBe(true);
  });
});

it('stacks what has the same steps', () => {
  const x = [1, 2];
  const curves = [1, 2, 3].map(value => ({ x, y: [value, 2 * value] }));
  const [steps, ...columns] = stackContent(curves, FRAME).columns([1, 2], 100);
  expect(steps).toEqual(x);
  expect(columns).toEqual([
    [1, 2],
    [3, 6],
    [6, 12]
  ]);
});

it('outlines every point in some column', () => {
  const y = Array.from({ length: 1000 }, (_, i) => Math.sin(i * i));
  const x = y.map((_, i) => i);
  const { low, high, line } = outline({ x, y }, y, [3, 997], 37);
  expect(Math.min(...low)).toBe(Math.min(...y.slice(3, 997)));
  expect(Math.max(...high)).toBe(Math.max(...y.slice(3, 997)));
  expect(line[36]).toBe(y[996]);
});

it('writes tables that no spreadsheet takes for formulas', () => {
  const train = { x: [1, 2], y: [0.5, NaN] };
  const validation = { x: [2], y: [0.25] };
  expect(
    csv([
      { name: '=HYPERLINK("x")', curve: train },
      { name: 'a, b', curve: validation }
    ])
  ).toBe('step,"\'=HYPERLINK(""x"")","a, b"\r\n1,0.5,\r\n2,NaN,0.25\r\n');
  const names = metricTable(
    metric(4, s => s),
    'more'
  ).map(({ name }) => name);
  expect(names).toEqual(['loss', 'loss (smoothed)', 'val_loss']);
});

it('has axes of steps, epochs and time that lead back to the step', () => {
  const clock = new Clock();
  clock.tick(10);
  clock.reached(0);
  clock.tick(20);
  clock.reached(100);
  for (const name of ['step', 'epoch', 'time'] as const) {
    const axis = xAxis(name, clock, 50);
    expect(axis.stepAt(axis.of(30))).toBeCloseTo(30);
  }
  expect(xAxis('time', clock, 50).of(50)).toBeCloseTo(5);
  expect(xAxis('epoch', clock, 50).of(75)).toBe(1.5);
  expect(xAxis('epoch', clock, null).name).toBe('step');
  expect(xAxis('time', clock, null).tick(90)).toBe('1:30');
});
