import { Looks } from '../line-styles';
import { RunCurves } from '../curves';
import { groupLines, runLines, spread, table, valueAt, type OverlayLine } from '../overlay-data'; // prettier-ignore
import { logSplits } from '../../charts/plot-scales';
import { bytesWord, difference } from '../race';
import type { RunEvent } from '../../store/source';

const START: RunEvent = { kind: 'start', time: 100, steps_per_epoch: 2 };
const steps = (time: number, step: number[], loss: (number | null)[]): RunEvent => ({ kind: 'steps', time, step, loss }); // prettier-ignore

function curvesOf(...events: RunEvent[]): RunCurves {
  const curves = new RunCurves();
  [START, ...events].forEach(event => curves.apply(event));
  return curves;
}

const SHOWN = { across: 'step', part: 'train', smoothing: 'none', isLog: false } as const; // prettier-ignore
const points = (curve: { x: ArrayLike<number>; y: ArrayLike<number> } | null) =>
  curve && [Array.from(curve.x), Array.from(curve.y)];

test('a figure goes over steps, epochs and the time of training', () => {
  const curves = curvesOf(
    steps(102, [1, 2], [4, 3]),
    { kind: 'status', time: 102, status: 'paused', step: 2 },
    { kind: 'status', time: 200, status: 'running', step: 2 },
    steps(204, [3, 4], [2, null])
  );
  expect(points(curves.curve('loss', 'step', 'none'))).toEqual([[1, 2, 3, 4], [4, 3, 2, NaN]]); // prettier-ignore
  expect(points(curves.curve('loss', 'epoch', 'none'))?.[0]).toEqual([0.5, 1, 1.5, 2]); // prettier-ignore
  // 2 s to the second step, a pause of 98 s that does not count, 4 s to the fourth
  expect(points(curves.curve('loss', 'time', 'none'))?.[0]).toEqual([
    1, 2, 4, 6
  ]);
  expect(curves.curve('accuracy', 'step', 'none')).toBeNull();
});

test('means of epochs stand where no steps are told, and validation always', () => {
  const epoch = { kind: 'epoch', time: 101, epoch: 1, step: 2, loss: 3, val_loss: 5, samples_per_second: 64 } as const; // prettier-ignore
  const curves = curvesOf(epoch);
  expect(points(curves.curve('loss', 'step', 'normal'))).toEqual([[2], [3]]);
  expect(curves.throughput.last()).toBe(64);
  curves.apply(steps(103, [3, 4], [2, 1]));
  curves.apply({ ...epoch, epoch: 2, step: 4, time: 104 });
  expect(points(curves.curve('loss', 'step', 'none'))).toEqual([[3, 4], [2, 1]]); // prettier-ignore
  expect(points(curves.curve('val_loss', 'step', 'more'))).toEqual([[2, 4], [5, 5]]); // prettier-ignore
});

test('what lies behind the step from which a run goes on does not count, and a reset takes all', () => {
  const curves = curvesOf(steps(101, [1, 2, 3], [3, 2, 1]));
  curves.apply({ kind: 'start', time: 500, step: 2, steps_per_epoch: 2 });
  curves.apply(steps(501, [3], [9]));
  expect(points(curves.curve('loss', 'step', 'none'))).toEqual([[1, 2, 3], [3, 2, 9]]); // prettier-ignore
  curves.apply({ kind: 'reset', time: 502 });
  expect(curves.curve('loss', 'step', 'none')).toBeNull();
});

test('a group is drawn as its mean within its range, where there are values', () => {
  const of = new Map([
    ['a', curvesOf(steps(101, [1, 2, 3], [1, 2, 3]))],
    ['b', curvesOf(steps(101, [1, 2], [3, 6]))],
    ['c', curvesOf(steps(101, [1, 2, 3], [5, 5, 5]))]
  ]);
  const lines = runLines(of, ['a', 'b', 'c', 'missing'], 'loss', SHOWN);
  expect(lines.map(({ owner }) => owner)).toEqual(['a', 'b', 'c']);
  const groups = groupLines(lines, new Map([['a', 'x'], ['b', 'x'], ['c', 'y']])); // prettier-ignore
  expect(groups.map(({ owner, role }) => [owner, role])).toEqual([
    ['x', 'train'],
    ['x', 'low'],
    ['x', 'high'],
    ['y', 'train']
  ]);
  expect(groups.slice(0, 3).map(({ curve }) => Array.from(curve.y))).toEqual([[2, 4, 3], [1, 2, 3], [3, 6, 3]]); // prettier-ignore
  expect(spread([{ x: [7], y: [1] }])).toEqual({ x: [7], mean: [1], low: [1], high: [1] }); // prettier-ignore
});

test('values between points go straight, and there are none outside', () => {
  const curve = { x: [1, 3], y: [10, 20] };
  expect([0, 1, 2, 3, 4].map(at => valueAt(curve, at))).toEqual([NaN, 10, 15, 20, NaN]); // prettier-ignore
});

test('twenty long curves become a table that is soon drawn', () => {
  const x = Float64Array.from({ length: 8192 }, (_, i) => i);
  const lines = Array.from({ length: 40 }, (_, k): OverlayLine => ({ owner: `${k}`, role: 'train', curve: { x, y: x.map(i => Math.sin(i * k)) } })); // prettier-ignore
  const drawn = table(lines, null, false);
  expect(drawn).toHaveLength(41);
  expect(drawn[0].length).toBeLessThan(12_500);
  const zoomed = table(lines.slice(0, 1), [100, 110], false);
  expect(Array.from(zoomed[0])).toEqual(Array.from({ length: 14 }, (_, i) => 99 + i).slice(0, zoomed[0].length)); // prettier-ignore
});

test('the difference of two losses is at the steps that both have', () => {
  const one = { x: [1, 2, 4, 5], y: [1, 2, 4, 5] };
  expect(points(difference(one, { x: [2, 3, 5], y: [2.5, 9, 5] }))).toEqual([[2, 5], [0.5, 0]]); // prettier-ignore
  expect(points(difference(one, { x: [], y: [] }))).toEqual([[], []]);
  expect(bytesWord(3 * 2 ** 30)).toBe('3 GiB');
});

test('a logarithmic axis has ticks however small the values are', () => {
  const ticks = (min: number, max: number) => logSplits(null as never, 1, min, max); // prettier-ignore
  expect(ticks(3e-12, 2e-6)).toEqual([1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6]);
  expect(ticks(0.15, 0.9)).toEqual([0.2, 0.5]);
  expect(ticks(0.6, 0.9)).toEqual([0.63, 0.75, 0.87]);
  expect(ticks(1e-40, 1e20).length).toBeLessThan(12);
});

test('runs keep their look while others come and go', () => {
  const looks = new Looks();
  const before = looks.of(['a', 'b', 'c']);
  const after = looks.of(['c', 'd']);
  expect(after.get('c')).toEqual(before.get('c'));
  expect(after.get('d')).toEqual(before.get('a'));
  const many = looks.of(Array.from({ length: 20 }, (_, i) => `${i}`));
  expect(new Set([...many.values()].map(l => `${l.color} ${l.dash}`)).size).toBe(20); // prettier-ignore
});
