import { isolatedPoints } from '../plot-style';

// jsdom has no canvas
jest.mock('uplot', () => ({ __esModule: true, default: { paths: {} } }));

test.each([
  [[1], [0]],
  [[1, 2, 3], []],
  [
    [1, null, 3, null, 5],
    [0, 2, 4]
  ],
  [[null, 1, null, 2, 3, null], [1]],
  // steps of another column interrupt no line
  [[1, undefined, undefined, 4], []],
  [[null, undefined, 3, undefined, null], [2]],
  [[null, null], []],
  [[], []]
])('of %j the points at %j stand alone', (values, alone) => {
  expect(isolatedPoints(values)).toEqual(alone);
});
