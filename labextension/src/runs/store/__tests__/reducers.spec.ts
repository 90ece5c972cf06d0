// Tests of the reducers behind the tabs: stored and dropped data.
import {
  health,
  histograms,
  predictions,
  recordedEvents,
  START
} from './run-events';
import { tabParts } from '../reducers';
import { BoundedList } from '../bounded-list';

describe('Thinned', () => {
  const filled = (count: number, most = 10) => {
    const thinned = new BoundedList<number>(most, at => at);
    for (let at = 1; at <= count; at++) {
      thinned.push(at);
      expect(thinned.items().length).toBeLessThanOrEqual(most);
      expect(thinned.items()[0]).toBe(1);
      expect(thinned.items()[thinned.items().length - 1]).toBe(at);
    }
    return thinned.items();
  };

  it.each([9, 10, 11, 37, 100, 1000])('spreads %i moments evenly', count => {
    const kept = filled(count);
    const apart = kept.slice(1, -1).map((at, i) => at - kept[i]);
    expect(new Set(apart).size).toBe(1);
    expect(kept.length).toBeGreaterThanOrEqual(5);
    expect(Math.log2(apart[0]) % 1).toBe(0);
  });

  it('leaves out what does not come after the last', () => {
    const thinned = new BoundedList<number>(10, at => at);
    [3, 3, 2, 4].forEach(at => thinned.push(at));
    expect(thinned.items()).toEqual([3, 4]);
    expect(thinned.items()).toBe(thinned.items());
    thinned.cut(3);
    expect(thinned.items()).toEqual([3]);
    thinned.cut(0);
    thinned.push(1);
    expect(thinned.items()).toEqual([1]);
  });
});

describe('the parts', () => {
  const layers = ['a', 'b'];

  it('keep at most so many moments', () => {
    const parts = tabParts();
    for (let step = 1; step <= 1000; step++) {
      parts.layers.apply(health(step, layers));
      parts.histograms.apply(histograms(step, layers));
      parts.validation.apply(predictions(step));
    }
    expect(parts.layers.view().length).toBeLessThanOrEqual(200);
    expect(parts.histograms.view().length).toBeLessThanOrEqual(100);
    expect(parts.validation.view().predictions.length).toBeLessThanOrEqual(100);
    expect(parts.layers.view().map(({ step }) => step)).toContain(1000);
  });

  it('keep the last two thousand lines of the log', () => {
    const { log } = tabParts();
    for (let i = 1; i <= 5000; i++) {
      log.apply({ kind: 'problem', time: i, message: `problem ${i}` });
    }
    const { lines, forgotten } = log.view();
    expect([lines.length, forgotten]).toEqual([2000, 3000]);
    expect([lines[0].number, lines[1999].number]).toEqual([3001, 5000]);
  });

  it('forget what lies behind the step at which a run goes on', () => {
    const parts = tabParts();
    const all = Object.values(parts);
    [...recordedEvents(), { ...START, step: 100 }].forEach(event =>
      all.forEach(part => part.apply(event))
    );
    const last = <T>(items: readonly T[]) => items[items.length - 1];
    expect(last(parts.layers.view()).step).toBe(100);
    expect(last(parts.histograms.view()).step).toBe(100);
    expect(parts.validation.view().predictions.map(p => p.epoch)).toEqual([
      1, 2
    ]);
    expect(parts.validation.view().samples).toHaveLength(8);
    expect(parts.alerts.view()).toEqual([]);
    expect(parts.texts.view()).toEqual([]);
    expect(parts.log.view().lines.length).toBeGreaterThan(9);
  });

  it('give the same object until something has changed', () => {
    const parts = tabParts();
    const all = Object.values(parts);
    recordedEvents().forEach(event => all.forEach(part => part.apply(event)));
    const before = all.map(part => part.view());
    all.forEach(part =>
      part.apply({ kind: 'steps', time: 1e10, step: [999], loss: [1] })
    );
    all.forEach((part, i) => expect(part.view()).toBe(before[i]));
  });

  it('take the names of layers from the event before, of health or of histograms', () => {
    const { histograms: part, layers: figures } = tabParts();
    const { layers: _, ...spread } = histograms(20, layers);
    const { layers: __, ...unnamed } = health(40, ['c', 'd']);
    [
      health(10, layers),
      spread as ReturnType<typeof histograms>,
      histograms(30, ['c', 'd']),
      unnamed as ReturnType<typeof health>
    ].forEach(event => {
      part.apply(event);
      figures.apply(event);
    });
    expect([...part.view()[0].spreads.weights.keys()]).toEqual(['a', 'b']);
    expect(figures.view()[1].layers.all).toEqual(['c', 'd']);
  });

  it('read the figures of layers, also of those without parameters', () => {
    const { layers: part } = tabParts();
    const event = health(10, layers);
    part.apply({
      ...event,
      parameters: { of: [1], gradient: [null], weights: [2], update: [0.5] }
    });
    // the names of the previous event apply
    const { layers: _, ...unnamed } = health(20, layers);
    part.apply(unnamed as typeof event);
    const [first, second] = part.view();
    expect(first.figure('a', 'gradient')).toBeUndefined();
    expect(first.figure('b', 'gradient')).toBeNull();
    expect(first.figure('b', 'weights')).toBe(2);
    expect(first.health('a')).toEqual({
      mean: expect.closeTo(event.outputs.mean?.[0] ?? NaN),
      std: expect.closeTo(1.2),
      largest: expect.closeTo(4.2),
      zeros: 0,
      notFinite: 0
    });
    expect(second.figure('a', 'weights')).toBeCloseTo(4.2);
  });
});
