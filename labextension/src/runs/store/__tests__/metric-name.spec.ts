import { RESERVED } from '../../../api/events';
import { RunCurves } from '../../compare/curves';
import { Epochs } from '../epochs';
import { metricName } from '../metric-name';
import { Metrics } from '../metrics';
import type { RunEvent } from '../source';

const NAMES = [...RESERVED, '@', 'x', '准确率'];
const key = (name: string) => (RESERVED.includes(name) ? `@${name}` : name);
const all = <T>(value: T) =>
  Object.fromEntries(NAMES.map(name => [key(name), value]));

const EVENTS: RunEvent[] = [
  { kind: 'start', time: 1, metrics: NAMES },
  { kind: 'steps', time: 2, step: [1, 2], ...all([5, 6]) },
  { kind: 'epoch', time: 3, epoch: 1, step: 2, ...all(7) }
];

test('a metric has the name that its author gave, also that of a field', () => {
  const metrics = new Metrics();
  EVENTS.forEach(event => metrics.apply(event));
  const curves = metrics.view().filter(({ name }) => name !== 'loss');
  expect(curves.map(({ name }) => name)).toEqual(NAMES);
  for (const { train, epochs } of curves) {
    expect([...train.x]).toEqual([1, 2]);
    expect([...train.y]).toEqual([5, 6]);
    expect([...epochs.y]).toEqual([7]);
  }
  const compared = new RunCurves();
  EVENTS.forEach(event => compared.apply(event));
  expect([...compared.figures.keys()]).toEqual(NAMES);
  const table = new Epochs();
  EVENTS.forEach(event => table.apply(event));
  expect(JSON.stringify(table.view())).toContain('"step":7');
});

test('keys of other names are those names', () => {
  expect(
    ['@step', '@@step', '@x', 'step_', '@'].map(each => metricName(each))
  ).toEqual(['step', '@step', '@x', 'step_', '@']);
});
