// Tests of calls as text.
import type { ParamSchema } from '../../api/graph';
import { readCall, writeCall } from '../call-text';

const number: ParamSchema = { type: 'number', default: 0 };
const CALLS = {
  normal: { properties: { mean: number, std: number } },
  constant: { properties: { value: number } },
  he: { properties: { mode: { enum: ['fan_in', 'fan_out'] } } }
};
const NAMES = ['zeros', ...Object.keys(CALLS), null];
const read = (text: string) => readCall(text, CALLS, NAMES);

describe('readCall', () => {
  it('reads names and calls', () => {
    expect(read('zeros')).toEqual({ name: 'zeros', settings: {} });
    expect(read(' normal( 1, std = -1e-3 ) ')).toEqual({
      name: 'normal',
      settings: { mean: 1, std: -0.001 }
    });
    expect(read("he(mode='fan_out')")?.settings).toEqual({ mode: 'fan_out' });
    expect(read('constant([[1, 2], (.5,)])')?.settings).toEqual({
      value: [[1, 2], [0.5]]
    });
    expect(read('constant()')?.settings).toEqual({});
  });

  it.each([
    'other(1)',
    'zeros(1)',
    'normal(std=1, std=2)',
    'normal(1, 2, 3)',
    'normal(std=x)',
    'normal(std=1',
    'normal(std=1) 2',
    'normal(std=1))',
    'constant([1)',
    'constant(1e999)',
    'constant(1;2)'
  ])('leaves %s as it is', text => expect(read(text)).toBeUndefined());
});

test('a call is written with its settings', () => {
  expect(writeCall('zeros', {})).toBe('zeros');
  expect(writeCall('he', { mode: 'fan_out' })).toBe('he(mode="fan_out")');
  expect(writeCall('normal', { std: 0.01, mean: 1 })).toBe(
    'normal(std=0.01, mean=1)'
  );
});
