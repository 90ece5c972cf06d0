import { formatDuration, formatNumber } from '../number-format';

describe('figure', () => {
  it.each([
    [0, '0.000'],
    [0.31256, '0.3126'],
    [12.345, '12.35'],
    [1234.5, '1,235'],
    [0.000012, '1.20e-5'],
    [2.5e7, '2.50e+7'],
    [NaN, 'NaN'],
    [null, 'NaN'],
    [Infinity, '∞'],
    [undefined, '–']
  ])('writes %p as %s', (value, text) => {
    expect(formatNumber(value)).toBe(text);
  });
});

describe('duration', () => {
  it.each([
    [0, '0:00'],
    [7.4, '0:07'],
    [83, '1:23'],
    [3723, '1:02:03'],
    [-1, '0:00']
  ])('writes %p seconds as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});
