// Steps inside of others: where keys and drags move them, and where they may be.

import type { StepData, TransformInfo } from '../../api/data';
import {
  edit,
  plain,
  startPipeline,
  type Edit
} from '../pipeline/pipeline-edits';
import {
  mayBeIn,
  placeBehind,
  placeByDrag,
  placeByKey
} from '../pipeline/step-places';
import { findStep, fromData, rowsOf, toData } from '../pipeline/step-tree';

const leaf = (type: string): StepData => ({ type, settings: {} });
const holder = (type: string, ...inner: StepData[]): StepData => ({
  ...leaf(type),
  inner
});
const info = (
  name: string,
  more: Partial<TransformInfo> = {}
): TransformInfo => ({
  name,
  category: '',
  summary: '',
  description: '',
  kinds: [],
  random: false,
  schema: {},
  ...more
});
const INFOS = [
  info('Many', { inner: 'many' }),
  info('One', { inner: 'one' }),
  info('Mix', { mixes: true }),
  ...['A', 'B', 'C', 'D', 'E'].map(name => info(name))
];
/** 1 A, 2 Many (2.1 B, 2.2 Many (2.2.1 C), 2.3 One (2.3.1 D)), 3 Mix, 4 E */
const DATA = [
  leaf('A'),
  holder(
    'Many',
    leaf('B'),
    holder('Many', leaf('C')),
    holder('One', leaf('D'))
  ),
  leaf('Mix'),
  leaf('E')
];
const STEPS = fromData(DATA);
const NONE: ReadonlySet<number> = new Set();
const id = (path: string) =>
  rowsOf(STEPS).find(row => row.path.join('.') === path)?.step.id ?? -1;
const text = (steps: readonly StepData[]): string =>
  steps
    .map(({ type, inner }) => type + (inner ? `(${text(inner)})` : ''))
    .join(' ');
const state = startPipeline({ steps: DATA, split: {} });
const after = (change: Edit) => text(plain(edit(state, change).now).steps);

it('numbers steps by the steps around them, and hides those of a collapsed one', () => {
  const paths = (hidden: ReadonlySet<number>) =>
    rowsOf(STEPS, hidden)
      .map(({ path }) => path.join('.'))
      .join(' ');
  expect(paths(NONE)).toBe('1 2 2.1 2.2 2.2.1 2.3 2.3.1 3 4');
  expect(paths(new Set([id('2.2')]))).toBe('1 2 2.1 2.2 2.3 2.3.1 3 4');
  expect(paths(new Set([id('2')]))).toBe('1 2 3 4');
});

it('is read and written as it is in a file, inner steps without a phase', () => {
  expect(toData(STEPS, true)).toEqual(DATA);
  const [first] = plain(state.now).steps.slice(1);
  expect(first.phase).toBe('always');
  expect(first.inner?.[0]).toEqual(leaf('B'));
});

it.each([
  ['2.2', 'ArrowUp', 'A Many(Many(C) B One(D)) Mix E'],
  ['2.2.1', 'ArrowLeft', 'A Many(B Many C One(D)) Mix E'],
  ['2.1', 'ArrowLeft', 'A Many(Many(C) One(D)) B Mix E'],
  ['2.2', 'ArrowRight', null],
  ['2.3', 'ArrowRight', 'A Many(B Many(C One(D))) Mix E'],
  ['2.1', 'ArrowUp', null],
  ['3', 'ArrowRight', null],
  ['4', 'ArrowRight', null],
  ['1', 'ArrowLeft', null],
  ['4', 'ArrowDown', null]
])('moves step %s by Alt and %s', (path, key, expected) => {
  const place = placeByKey(key, STEPS, id(path), INFOS);
  expect(place && after({ kind: 'move', id: id(path), place })).toBe(expected);
});

it.each([
  ['4', '2.1', 1, 'A Many(E B Many(C) One(D)) Mix'],
  ['4', '2.1', 0, 'A Many(E B Many(C) One(D)) Mix'],
  ['1', '2.2.1', 2, 'Many(B Many(C A) One(D)) Mix E'],
  ['1', '2.2.1', 1, 'Many(B Many(C) A One(D)) Mix E'],
  ['4', '3', 1, 'A Many(B Many(C) One(D) E) Mix'],
  ['4', '3', 2, 'A Many(B Many(C) One(D) E) Mix'],
  ['4', '3', 0, 'A Many(B Many(C) One(D)) E Mix'],
  ['2.2.1', '2.2.1', 1, 'A Many(B Many C One(D)) Mix E'],
  ['3', '2.1', 1, null],
  ['2.2.1', '1', 0, 'C A Many(B Many One(D)) Mix E']
])('drops step %s over %s at level %i', (path, over, depth, expected) => {
  const place = placeByDrag(STEPS, id(path), id(over), depth, INFOS, NONE);
  expect(place && after({ kind: 'move', id: id(path), place })).toBe(expected);
});

it('has room for one, for many, and for none', () => {
  const may = (path: string, parent: string) => {
    const step = findStep(STEPS, id(path));
    return step && mayBeIn(STEPS, step, id(parent), INFOS);
  };
  expect(may('1', '2')).toBe(true);
  expect(may('1', '2.3')).toBe(false);
  expect(may('2.3.1', '2.3')).toBe(true);
  expect(may('3', '2')).toBe(false);
  expect(may('1', '4')).toBe(false);
  expect(may('2', '2.2')).toBe(false);
  const deep = Array.from({ length: 15 }).reduce<StepData>(
    one => holder('Many', one),
    leaf('A')
  );
  const steps = fromData([deep, holder('Many', leaf('B')), leaf('C')]);
  const row = rowsOf(steps).find(({ path }) => path.length === 15);
  expect(mayBeIn(steps, steps[2], row?.step.id ?? 0, INFOS)).toBe(true);
  expect(mayBeIn(steps, steps[1], row?.step.id ?? 0, INFOS)).toBe(false);
});

it('adds behind the selected step, or behind the one around it that is full', () => {
  expect(placeBehind(STEPS, id('2.1'), INFOS)).toEqual({
    parent: id('2'),
    at: 1
  });
  expect(placeBehind(STEPS, id('2.3.1'), INFOS)).toEqual({
    parent: id('2'),
    at: 3
  });
  expect(placeBehind(STEPS, null, INFOS)).toEqual({ parent: null, at: 4 });
});

it('edits inner steps, and undoes it', () => {
  const changed = edit(state, {
    kind: 'settings',
    id: id('2.2.1'),
    settings: { p: 1 }
  });
  expect(findStep(changed.now.steps, id('2.2.1'))?.settings).toEqual({ p: 1 });
  expect(plain(edit(changed, { kind: 'undo' }).now)).toEqual(plain(state.now));
  expect(after({ kind: 'remove', id: id('2.2') })).toBe(
    'A Many(B One(D)) Mix E'
  );
  expect(edit(state, { kind: 'remove', id: id('2.2.1') }).selected).toBe(
    id('2.2')
  );
  const into = { parent: id('2.2'), at: 1 };
  expect(
    after({ kind: 'add', step: holder('One', leaf('E')), place: into })
  ).toBe('A Many(B Many(C One(E)) One(D)) Mix E');
  expect(edit(state, { kind: 'move', id: id('2'), place: into })).toBe(state);
});
