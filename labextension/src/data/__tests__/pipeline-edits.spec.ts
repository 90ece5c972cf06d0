// Edits of a pipeline: each is undone, and the file is written as it was read.

import type { PipelineData } from '../../api/data';
import {
  edit,
  isChanged,
  plain,
  startPipeline,
  type Edit
} from '../pipeline/pipeline-edits';
import {
  byCategory,
  fitsEntries,
  searchTransforms
} from '../pipeline/transform-list';
import { plainTranslator } from '../../ui/translator';
import { TRANSFORMS } from './mock-host';

const step = (type: string, phase = 'always' as const) => ({
  type,
  settings: {},
  phase
});
const SAVED: PipelineData = {
  steps: [step('A'), step('B'), step('C')],
  split: { fraction: 0.7, seed: 3, stratify: false }
};
const types = (state: ReturnType<typeof startPipeline>) =>
  state.now.steps.map(({ type }) => type).join('');
const after = (...edits: Edit[]) => edits.reduce(edit, startPipeline(SAVED));
const ids = startPipeline(SAVED).now.steps.map(({ id }) => id);

it('is unchanged as it was read, with defaults for what is left out', () => {
  expect(isChanged(startPipeline(SAVED))).toBe(false);
  const short = startPipeline({
    steps: [{ type: 'A', settings: {} }],
    split: {}
  });
  expect(isChanged(short)).toBe(false);
  expect(plain(short.now)).toEqual({
    steps: [step('A')],
    split: { fraction: 0.8, seed: 0, stratify: true }
  });
});

it('adds at a place, and selects what was added', () => {
  const state = after(
    { kind: 'select', id: ids[0] },
    { kind: 'add', step: step('X'), place: { parent: null, at: 1 } }
  );
  expect(types(state)).toBe('AXBC');
  expect(state.now.steps[1].id).toBe(state.selected);
  expect(isChanged(state)).toBe(true);
});

it.each([
  [0, 2, 'BCA'],
  [2, 0, 'CAB'],
  [1, 0, 'BAC'],
  [1, 9, 'ACB']
])('moves step %i to %i', (from, at, expected) => {
  const place = { parent: null, at };
  expect(types(after({ kind: 'move', id: ids[from], place }))).toBe(expected);
});

it('undoes and redoes every edit', () => {
  const edits: Edit[] = [
    { kind: 'remove', id: ids[1] },
    { kind: 'move', id: ids[2], place: { parent: null, at: 0 } },
    { kind: 'phase', id: ids[0], phase: 'training' },
    { kind: 'settings', id: ids[0], settings: { size: 4 } },
    { kind: 'split', split: { fraction: 0.5 } },
    { kind: 'add', step: step('D'), place: { parent: null, at: 0 } }
  ];
  const states = edits.reduce(
    (all, change) => [...all, edit(all[all.length - 1], change)],
    [startPipeline(SAVED)]
  );
  let state = states[states.length - 1];
  for (const before of [...states].reverse().slice(1)) {
    state = edit(state, { kind: 'undo' });
    expect(plain(state.now)).toEqual(plain(before.now));
  }
  expect(isChanged(state)).toBe(false);
  for (const next of states.slice(1)) {
    state = edit(state, { kind: 'redo' });
    expect(plain(state.now)).toEqual(plain(next.now));
  }
  expect(edit(state, { kind: 'redo' })).toBe(state);
});

it('undoes what was typed into one setting at once', () => {
  const typed = after(
    { kind: 'settings', id: ids[0], settings: { size: 1 } },
    { kind: 'settings', id: ids[0], settings: { size: 12 } },
    { kind: 'settings', id: ids[0], settings: { size: 12, p: 1 } }
  );
  const once = edit(typed, { kind: 'undo' });
  expect(once.now.steps[0].settings).toEqual({ size: 12 });
  const twice = edit(once, { kind: 'undo' });
  expect(twice.now.steps[0].settings).toEqual({});
});

it('selects a neighbor of a removed step, and none of an empty list', () => {
  const last = after({ kind: 'remove', id: ids[2] });
  expect(last.selected).toBe(ids[1]);
  const empty = [ids[0], ids[1]].reduce(
    (state, id) => edit(state, { kind: 'remove', id }),
    last
  );
  expect(empty.selected).toBeNull();
  expect(
    types(
      edit(empty, {
        kind: 'add',
        step: step('Z'),
        place: { parent: null, at: 0 }
      })
    )
  ).toBe('Z');
});

it('begins with a draft, which differs from the file', () => {
  const state = startPipeline(SAVED, { ...SAVED, steps: [] });
  expect(types(state)).toBe('');
  expect(isChanged(state)).toBe(true);
  const saved = edit(state, { kind: 'saved', pipeline: plain(state.now) });
  expect(isChanged(saved)).toBe(false);
});

it('offers transforms that fit the samples, the closest names first', () => {
  const image = [{ name: 'image', kind: 'image', description: '' }];
  const fitting = TRANSFORMS.filter(one => fitsEntries(one, image));
  expect(fitting.map(({ name }) => name)).toEqual([
    'ResizeWithPad',
    'Resize',
    'HorizontalFlip',
    'Compose'
  ]);
  const matches = searchTransforms(fitting, 'resize', plainTranslator);
  expect(matches.map(({ name }) => name)).toEqual(['Resize', 'ResizeWithPad']);
  expect(
    searchTransforms(TRANSFORMS, 'audio mel', plainTranslator)
  ).toHaveLength(1);
  expect(byCategory(matches, plainTranslator)[0].category).toBe(
    'Pictures: sizes'
  );
});
