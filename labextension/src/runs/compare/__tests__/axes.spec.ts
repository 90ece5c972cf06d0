import { plainTranslator } from '../../../ui/translator';
import { axisChoices, axisOf, type Axis } from '../axes';
import { filterByBrushes, isInside, NO_BRUSHES, rangeAfter } from '../brushing';
import { bestTrial } from '../best-run';
import type { Brief } from '../runs-source';
import { brief } from './briefs';

function axis(runs: readonly Brief[], id: string): Axis {
  const choice = axisChoices(runs, plainTranslator).find(
    choice => choice.id === id
  );
  if (!choice) {
    throw new Error(`There is no axis ${id}.`);
  }
  return axisOf(choice, runs);
}

const rates = (...values: unknown[]) =>
  values.map((learning_rate, i) =>
    brief(`run-${i}`, { settings: { learning_rate } })
  );

test('values that span decades are spread by their magnitude', () => {
  const runs = rates(1e-4, 1e-3, 1e-2);
  const log = axis(runs, 'settings.learning_rate');
  expect(log.kind).toBe('log');
  runs.forEach((run, i) => expect(log.place(run)).toBeCloseTo(i / 2));
  expect(log.ticks.map(tick => tick.label)).toEqual([
    '0.0001',
    '0.001',
    '0.01'
  ]);
  expect(axis(rates(1, 2, 3), 'settings.learning_rate').kind).toBe('linear');
  expect(axis(rates(-1, 2, 3000), 'settings.learning_rate').kind).toBe(
    'linear'
  );
});

test('words, and numbers among words, are categories', () => {
  const runs = rates('auto', 0.1, 'auto', true);
  const category = axis(runs, 'settings.learning_rate');
  expect(category.kind).toBe('category');
  expect(category.ticks.map(tick => tick.label)).toEqual([
    '0.1',
    'auto',
    'true'
  ]);
  const places = runs.map(run => category.place(run));
  expect(places[0]).toBe(places[2]);
  expect(new Set(places).size).toBe(3);
});

test('numbers that a sweep chooses from are categories, the largest on top', () => {
  const runs = [4, 8, 8].map((heads, i) =>
    brief(`${i}`, { params: { heads } })
  );
  const choices = axisChoices(runs, plainTranslator, { heads: [4, 8, 16] });
  const found = choices.find(({ id }) => id === 'settings.heads');
  const heads = found && axisOf(found, runs);
  expect(heads?.kind).toBe('category');
  expect(heads?.ticks.map(({ label }) => label)).toEqual(['16', '8', '4']);
  const places = runs.map(run => heads?.place(run) ?? NaN);
  expect(places[0]).toBeLessThan(places[1]);
  expect(places[1]).toBe(places[2]);
  // lists are choices as well
  const shapes = [[8], [8, 4]].map((units, i) => brief(`${i}`, { params: { units } })); // prettier-ignore
  const lists = axisChoices(shapes, plainTranslator, { units: [[8], [8, 4]] });
  const units = lists.find(({ id }) => id === 'settings.units');
  expect(units && axisOf(units, shapes).ticks.map(({ label }) => label)).toEqual(['[8,4]', '[8]']); // prettier-ignore
});

test('numbers that occur again and again, or two of them, are categories', () => {
  const kind = (...values: number[]) =>
    axis(rates(...values), 'settings.learning_rate').kind;
  expect(kind(4, 8)).toBe('category');
  expect(kind(1e-3, 1e-2, 1e-1, 1e-3, 1e-2, 1e-1)).toBe('category');
  expect(kind(1, 2, 3, 3)).toBe('linear');
  expect(kind(...Array.from({ length: 40 }, (_, i) => i % 20))).toBe('linear');
  const results = [1, 2, 1, 2].map((loss, i) => brief(`${i}`, { figures: { loss } })); // prettier-ignore
  expect(axis(results, 'figures.loss').kind).toBe('linear');
});

test('values that are all the same, missing or not finite have an axis all the same', () => {
  const runs = [
    brief('a', { best: { val_loss: { value: null, epoch: 1 } } }),
    brief('b', { best: {} }),
    brief('c')
  ];
  const best = axis(runs, 'best.val_loss');
  expect(runs.map(run => best.place(run))).toEqual([
    null,
    null,
    expect.closeTo(0.5)
  ]);
  expect(
    axis([brief('x', { figures: { loss: null }, best: {} })], 'figures.loss')
      .ticks
  ).toEqual([]);
});

test('only what differs is an axis, and all results', () => {
  const runs = rates(0.1, 0.2);
  const ids = axisChoices(runs, plainTranslator).map(({ id }) => id);
  expect(ids).toContain('settings.learning_rate');
  expect(ids).not.toContain('settings.optimizer');
  expect(ids).not.toContain('backend');
  expect(ids.filter(id => id.startsWith('figures.'))).toHaveLength(4);
});

test('what a sweep tries, or what runs have set differently, is an axis by itself', () => {
  const telling = (runs: readonly Brief[]) =>
    axisChoices(runs, plainTranslator).filter(choice => choice.isTelling).map(({ id }) => id); // prettier-ignore
  const sgd = brief('a', { settings: { learning_rate: 0.1, momentum: 0.9 } });
  const adam = brief('b', { settings: { learning_rate: 0.2, epsilon: 1e-8 } });
  expect(telling([sgd, adam])).toEqual(['settings.learning_rate']);
  const tried = [0, 1].map(units => brief(`${units}`, { params: { units }, settings: { units, seed: units } })); // prettier-ignore
  expect(telling(tried)).toEqual(['settings.units']);
});

test('a run is inside when it lies in all ranges', () => {
  const runs = rates(1, 2, 3, 4, 5);
  const all = [axis(runs, 'settings.learning_rate')];
  const brushes = filterByBrushes(NO_BRUSHES, all[0].id, [0.8, 0.2]);
  expect(brushes.get(all[0].id)).toEqual([0.2, 0.8]);
  expect(
    runs.filter(run => isInside(run, all, brushes)).map(run => run.path)
  ).toEqual(['run-1', 'run-2', 'run-3']);
  expect(
    runs.every(run =>
      isInside(run, all, filterByBrushes(brushes, all[0].id, null))
    )
  ).toBe(true);
  expect(isInside(brief('none', { settings: {} }), all, brushes)).toBe(false);
});

test('keys move the ends of a range and clear it', () => {
  expect(rangeAfter(undefined, 'ArrowDown', false)).toEqual([0, 0.95]);
  expect(rangeAfter(undefined, 'ArrowUp', true)).toEqual([0.05, 1]);
  expect(rangeAfter([0.5, 0.52], 'ArrowDown', false)).toEqual([0.5, 0.5]);
  expect(rangeAfter([0.5, 0.6], 'Escape', false)).toBeNull();
  expect(rangeAfter([0.5, 0.6], 'x', false)).toBeUndefined();
});

test('the best trial is low, or high where the sweep or the figure says so', () => {
  const value = (path: string, loss: number | null, accuracy: number) =>
    brief(path, {
      best: {
        val_loss: { value: loss, epoch: 1 },
        val_accuracy: { value: accuracy, epoch: 1 }
      },
      figures: {}
    });
  const runs = [
    value('a', 0.5, 0.7),
    value('b', 0.2, 0.6),
    value('c', null, 0.9)
  ];
  expect(bestTrial(runs, 'val_loss', null)?.path).toBe('b');
  expect(bestTrial(runs, 'val_loss', 'max')?.path).toBe('a');
  expect(bestTrial(runs, 'val_accuracy', null)?.path).toBe('c');
  expect(bestTrial([], 'val_loss', 'min')).toBeNull();
});
