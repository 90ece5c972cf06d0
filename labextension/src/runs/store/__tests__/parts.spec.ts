import { Epochs } from '../epochs';
import { Health } from '../health';
import { Marks } from '../marks';
import { Metrics } from '../metrics';
import { Throughput } from '../throughput';
import { Progress } from '../progress';
import { LearningRate } from '../learning-rate';
import { RunState } from '../run-state';
import type {
  HealthEvent,
  ThroughputEvent,
  RunEvent,
  StartEvent
} from '../source';
import { plainTranslator } from '../../../ui/translator';
import { markText } from '../../dashboard/mark-text';

const START: StartEvent = {
  kind: 'start',
  time: 100,
  version: 2,
  epochs: 10,
  steps_per_epoch: 10,
  batch_size: 4,
  metrics: ['accuracy', 'odd'],
  higher: ['accuracy']
};

const steps = (from: number, to: number): RunEvent => {
  const step = Array.from({ length: to - from }, (_, i) => from + i);
  const loss = step.map(at => 1 / at);
  return { kind: 'steps', time: 100 + to / 10, step, loss };
};

const epoch = (number: number, figures: Record<string, number>): RunEvent => ({
  kind: 'epoch',
  time: 100 + number,
  epoch: number,
  step: number * 10,
  ...figures
});

describe('RunState', () => {
  it('goes on from the step that a later start tells', () => {
    const state = new RunState();
    [
      START,
      steps(1, 41),
      epoch(1, { loss: 3 }),
      epoch(2, { loss: 2 }),
      epoch(4, { loss: 1 }),
      { ...START, time: 500, step: 20 },
      {
        kind: 'best',
        time: 500,
        best: { loss: { value: 2, epoch: 2 } }
      } as const
    ].forEach(event => state.apply(event));
    const view = state.snapshot(true);
    expect([view.step, view.epoch, view.status]).toEqual([20, 2, 'running']);
    expect(view.elapsed).toBeCloseTo(4.1);
    const { train } = view.metrics[0];
    expect([...train.x]).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect(view.table.rows.map(row => row.epoch)).toEqual([1, 2]);
    expect(view.table.best.loss).toEqual({ value: 2, epoch: 2 });
    expect(view.marks).toMatchObject([{ kind: 'resumed', step: 20 }]);
    state.apply({ ...steps(21, 31), time: 501 });
    expect(state.snapshot(true).metrics[0].train.length).toBe(30);
    expect(state.snapshot(true).elapsed).toBeCloseTo(5.1);
  });

  it('forgets all at a reset', () => {
    const state = new RunState();
    const first = JSON.stringify(state.snapshot(true));
    [START, steps(1, 31), epoch(1, { loss: 1 })].forEach(e => state.apply(e));
    state.apply({ kind: 'reset', time: 0 });
    expect(JSON.stringify(state.snapshot(true))).toBe(first);
  });

  it('is bounded over many epochs, and gives unchanged parts unchanged', () => {
    const state = new RunState();
    state.apply(START);
    for (let number = 1; number <= 5000; number++) {
      state.apply(epoch(number, { loss: 1 / number }));
      state.apply({ kind: 'rate', time: 0, step: [number], value: [number] });
    }
    const view = state.snapshot(true);
    expect(view.table.rows).toHaveLength(1000);
    expect(view.table.rows[999].epoch).toBe(5000);
    expect(view.rate.curve.length).toBeLessThanOrEqual(4096);
    const again = state.snapshot(true);
    expect(again.table).toBe(view.table);
    expect(again.metrics).toBe(view.metrics);
    expect(again.marks).toBe(view.marks);
  });
});

describe('Epochs', () => {
  it('has the best values that the source sends, then those of the summary', () => {
    const epochs = new Epochs();
    const best = { loss: { value: 1, epoch: 2 } };
    epochs.apply(epoch(1, { loss: 2 }));
    expect(epochs.view().best).toEqual({});
    epochs.apply({ kind: 'best', time: 1, best });
    epochs.apply({ ...START, step: 5 });
    expect(epochs.view().best).toEqual(best);
    const last = { loss: { value: 0.5, epoch: 3 } };
    const summary = { figures: {}, best: last };
    epochs.apply({ kind: 'end', time: 2, status: 'finished', summary });
    expect(epochs.view().best).toEqual(last);
    epochs.apply(START);
    expect(epochs.view().best).toEqual({});
  });
});

describe('Marks', () => {
  it('stand where somebody did something or something was seen', () => {
    const marks = new Marks();
    const events: RunEvent[] = [
      START,
      steps(1, 13),
      { kind: 'learning_rate', time: 1, step: 12, value: 0.001 },
      { kind: 'status', time: 2, status: 'paused', step: 12 },
      { kind: 'status', time: 2, status: 'paused', step: 12 },
      { kind: 'status', time: 3, status: 'running' },
      { kind: 'checkpoint', time: 4, step: 13, path: 'x' },
      { kind: 'epochs', time: 5, epochs: 12, step: 14 },
      { kind: 'branch', time: 6, step: 15, id: 'other', folder: '../other' },
      {
        kind: 'command',
        time: 7,
        id: '1',
        command: 'step',
        step: 16,
        status: 'done'
      },
      {
        kind: 'alert',
        time: 8,
        step: 17,
        alert: 'plateau',
        level: 'warning',
        message: 'no better for 9 epochs'
      }
    ];
    events.forEach(event => marks.apply(event));
    expect(marks.view().map(mark => markText(mark, plainTranslator))).toEqual([
      'step 12: learning rate set manually to 0.001',
      'step 12: paused',
      'step 12: resumed',
      'step 13: checkpoint saved',
      'step 14: total epochs changed to 12',
      'step 15: other branched from here',
      'step 16: single step',
      'step 17: no better for 9 epochs'
    ]);
    marks.apply({ ...START, step: 13 });
    expect(marks.view().map(mark => mark.step)).toEqual([12, 12, 12, 13, 13]);
  });

  it('say where a branch began', () => {
    const parent = { id: 'other', folder: '../other', step: 7 };
    const marks = new Marks();
    marks.apply({ ...START, step: 7, parent });
    marks.apply(steps(8, 12));
    marks.apply({ ...START, step: 9, parent });
    expect(marks.view().map(mark => markText(mark, plainTranslator))).toEqual([
      'step 7: branched from other',
      'step 9: resumed from here'
    ]);
  });

  it('are bounded', () => {
    const marks = new Marks();
    for (let step = 1; step < 2000; step++) {
      marks.apply({ kind: 'checkpoint', time: step, step, path: 'x' });
    }
    expect(marks.view()).toHaveLength(500);
    expect(marks.view()[499].step).toBe(1999);
  });
});

describe('Paces', () => {
  const pace: ThroughputEvent = {
    kind: 'pace',
    time: 1,
    step: 10,
    steps: 10,
    samples: 320,
    data: 0.1,
    compute: 0.2,
    update: 0.1
  };

  it('tells the time of a step and samples per second of it', () => {
    const paces = new Throughput();
    paces.apply(pace);
    const [found] = paces.view();
    expect(found.throughput).toBeCloseTo(800);
    expect([found.data, found.compute, found.update]).toEqual([10, 20, 10]);
  });

  it('leaves out what is no pace', () => {
    const paces = new Throughput();
    paces.apply({ ...pace, steps: 0 });
    expect(paces.view()).toEqual([]);
    paces.apply({ ...pace, update: null });
    expect(paces.view()[0].update).toBeNull();
  });
});

describe('Rate', () => {
  it('follows what is told, and what is set by hand', () => {
    const rate = new LearningRate();
    rate.apply({ ...START, settings: { learning_rate: 0.1 } });
    expect(rate.view().now).toBe(0.1);
    rate.apply({ kind: 'rate', time: 1, step: [0, 5], value: [0.1, 0.05] });
    expect(rate.view().now).toBe(0.05);
    const before = rate.view();
    rate.apply(steps(1, 3));
    expect(rate.view()).toBe(before);
    rate.apply({ kind: 'learning_rate', time: 2, step: 7, value: 0.01 });
    expect(rate.view()).toMatchObject({ now: 0.01, setAt: 7 });
    expect([...rate.view().curve.x]).toEqual([0, 5, 7]);
  });
});

describe('Health', () => {
  const event = (
    step: number,
    gradient: (number | null)[],
    update: number[],
    zeros: number[],
    notFinite = 0
  ): HealthEvent => ({
    kind: 'health',
    time: 1,
    step,
    samples: 8,
    layers: ['stem', 'head'],
    parameters: { of: [0, 1], gradient, weights: [1, 1], update },
    outputs: {
      of: [0, 1],
      mean: [0, 0],
      std: [1, 1],
      largest: [1, 1],
      zeros,
      not_finite: [0, notFinite]
    }
  });
  const vitals = (health: Health) =>
    Object.fromEntries(
      health
        .view()
        .vitals.map(({ name, now, state, layer }) => [
          name,
          [now, state, layer]
        ])
    );

  it('sums up the layers, and says which one it is about', () => {
    const health = new Health();
    health.apply(START);
    expect(health.view().step).toBeNull();
    health.apply(event(30, [3, 4], [0.01, 0.02], [0.5, 0]));
    expect(vitals(health)).toEqual({
      gradient: [5, 'fine', null],
      update: [0.02, 'fine', 'head'],
      notFinite: [0, 'fine', null],
      zeros: [0.5, 'fine', 'stem']
    });
    health.apply(event(40, [1e-9, 4], [0.5, 0.02], [1, 0]));
    expect(vitals(health)).toMatchObject({
      gradient: [4, 'vanishing', 'stem'],
      update: [0.5, 'exploding', 'stem'],
      zeros: [1, 'dead', 'stem']
    });
    health.apply(event(50, [1, null], [0.01, 0.01], [0, 0], 7));
    expect(vitals(health)).toMatchObject({
      gradient: [NaN, 'broken', 'head'],
      notFinite: [8, 'broken', null]
    });
    const [gradient] = health.view().vitals;
    expect([...gradient.curve.x]).toEqual([30, 40, 50]);
    expect(gradient.curve.y[2]).toBeNaN();
  });
});

describe('Progress', () => {
  it('tells when a step was reached, and at what step a moment was', () => {
    const progress = new Progress();
    progress.apply(START);
    progress.apply({ ...steps(1, 11), time: 110 });
    progress.apply({ ...steps(11, 21), time: 130 });
    const { clock } = progress.view();
    expect([5, 10, 15, 20, 30].map(step => clock.timeOf(step))).toEqual([
      5, 10, 20, 30, 50
    ]);
    expect([5, 20, 30].map(time => clock.stepAt(time))).toEqual([5, 15, 20]);
  });

  it('keeps its clock bounded', () => {
    const progress = new Progress();
    progress.apply({ ...START, epochs: 100_000 });
    for (let step = 1; step <= 50_000; step++) {
      progress.apply({ kind: 'steps', time: 100 + step / 10, step: [step] });
    }
    const { clock, remaining } = progress.view();
    expect(clock.timeOf(25_000)).toBeCloseTo(2500, 0);
    expect(remaining).toBeCloseTo(95_000, -1);
  });
});

describe('Metrics', () => {
  it('are those of the start, in its order, and others as they come', () => {
    const metrics = new Metrics();
    metrics.apply(START);
    metrics.apply(epoch(1, { f1: 1, val_accuracy: 0.5 }));
    expect(metrics.view().map(({ name }) => name)).toEqual([
      'loss',
      'accuracy',
      'odd',
      'f1'
    ]);
    expect(metrics.view()[1].validation.last()).toBe(0.5);
  });
});
