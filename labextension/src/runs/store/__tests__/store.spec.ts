import { RunStore } from '../store';
import type { RunCommand, RunEvent } from '../source';

const START: RunEvent = {
  kind: 'start',
  time: 1000,
  model: 'digits',
  backend: 'torch',
  epochs: 3,
  steps_per_epoch: 10,
  batch_size: 32,
  metrics: ['accuracy']
};

/** One event per second with two steps each. */
function steps(from: number, to: number, time = 1000): RunEvent[] {
  const events: RunEvent[] = [];
  for (let step = from; step < to; step += 2) {
    const at = [step, step + 1];
    const values = at.map(s => 1 / s);
    events.push({
      kind: 'steps',
      time: time + (step + 1) / 2,
      step: at,
      loss: values,
      accuracy: values
    });
  }
  return events;
}

function epoch(number: number, time: number): RunEvent {
  const figures = {
    loss: 0.5,
    accuracy: 0.8,
    val_loss: 0.6,
    val_accuracy: 0.7,
    samples_per_second: 640
  };
  return { kind: 'epoch', time, epoch: number, step: number * 10, ...figures };
}

function filled(...events: RunEvent[]): RunStore {
  const store = new RunStore(flush => flush());
  store.push(events, true);
  return store;
}

describe('RunStore', () => {
  it('waits before the first event', () => {
    expect(new RunStore().view()).toMatchObject({
      status: 'waiting',
      metrics: [],
      progress: null,
      message: null
    });
  });

  it('folds steps into curves and counts epochs', () => {
    const view = filled(START, ...steps(1, 15)).view();
    expect(view).toMatchObject({
      status: 'running',
      model: 'digits',
      backend: 'torch',
      step: 14,
      totalSteps: 30
    });
    expect(view).toMatchObject({ epoch: 2, epochs: 3 });
    expect(view.progress).toBeCloseTo(14 / 30);
    expect(view.metrics.map(metric => metric.name)).toEqual([
      'loss',
      'accuracy'
    ]);
    expect(Array.from(view.metrics[0].train.x)).toEqual(
      Array.from({ length: 14 }, (_, i) => i + 1)
    );
    expect(view.metrics[0].train.y[3]).toBe(0.25);
    expect(view.metrics[0].train.smooth('normal')[0]).toBe(1);
  });

  it('puts validation figures with their metric and fills the table', () => {
    const view = filled(START, ...steps(1, 11), epoch(1, 1006)).view();
    expect(view.metrics.map(metric => metric.name)).toEqual([
      'loss',
      'accuracy'
    ]);
    expect(view.metrics[1].validation.last()).toBe(0.7);
    expect(Array.from(view.metrics[1].validation.x)).toEqual([10]);
    expect(view.table.rows).toEqual([
      {
        epoch: 1,
        step: 10,
        samplesPerSecond: 640,
        figures: { loss: 0.5, accuracy: 0.8, val_loss: 0.6, val_accuracy: 0.7 }
      }
    ]);
  });

  it('adds validations within an epoch to the curve of their metric', () => {
    const within: RunEvent = {
      kind: 'validation',
      time: 1003,
      epoch: 1,
      step: 5,
      val_loss: 0.9
    };
    const start: RunEvent = { ...START, max_steps: 25 };
    const view = filled(
      start,
      ...steps(1, 7),
      within,
      ...steps(7, 11),
      epoch(1, 1006)
    ).view();
    expect(view.metrics.map(metric => metric.name)).toEqual([
      'loss',
      'accuracy'
    ]);
    expect(Array.from(view.metrics[0].validation.x)).toEqual([5, 10]);
    expect(Array.from(view.metrics[0].validation.y)).toEqual([0.9, 0.6]);
    expect(view.table.rows).toHaveLength(1);
    expect(view.totalSteps).toBe(25);
  });

  it('shows metrics that exist only at the ends of epochs', () => {
    const view = filled(START, {
      kind: 'epoch',
      time: 1005,
      epoch: 1,
      step: 10,
      f1: 0.5
    }).view();
    expect(Array.from(view.metrics[2].train.y)).toEqual([0.5]);
    expect(view.metrics[2].train.last('normal')).toBe(0.5);
  });

  it('turns null into a gap and carries on smoothing after it', () => {
    const view = filled(START, {
      kind: 'steps',
      time: 1001,
      step: [1, 2, 3],
      loss: [1, null, 1]
    }).view();
    expect(Array.from(view.metrics[0].train.y)).toEqual([1, NaN, 1]);
    expect(view.metrics[0].train.last('normal')).toBeCloseTo(1);
  });

  it('leaves out points that do not come after the last one', () => {
    const again = steps(1, 7);
    expect(
      Array.from(filled(START, ...again, ...again).view().metrics[0].train.x)
    ).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('measures speed and what remains', () => {
    const view = filled(START, ...steps(1, 11)).view();
    expect(view.elapsed).toBeCloseTo(5);
    expect(view.throughput).toBeCloseTo(2 * 32);
    expect(view.remaining).toBeCloseTo(10);
  });

  it('does not count a pause, neither as time nor as slowness', () => {
    const store = filled(START, ...steps(1, 11), {
      kind: 'status',
      time: 1005,
      status: 'paused'
    });
    expect(store.view().status).toBe('paused');
    store.push(
      [
        { kind: 'status', time: 1605, status: 'running' },
        ...steps(11, 21, 1600)
      ],
      true
    );
    const view = store.view();
    expect(view.status).toBe('running');
    expect(view.elapsed).toBeCloseTo(10);
    expect(view.remaining).toBeCloseTo(5);
    expect(view.throughput).toBeCloseTo(64);
  });

  it.each(['finished', 'stopped', 'failed'] as const)('ends as %s', status => {
    const store = filled(START, ...steps(1, 11), {
      kind: 'end',
      time: 1006,
      status,
      message: 'why'
    });
    expect(store.view()).toMatchObject({
      status,
      message: 'why',
      remaining: null
    });
    store.push([], false);
    expect(store.view().status).toBe(status);
  });

  it('is complete when finished', () => {
    const view = filled(START, ...steps(1, 31), epoch(3, 1016), {
      kind: 'end',
      time: 1016,
      status: 'finished'
    }).view();
    expect(view).toMatchObject({ progress: 1, epoch: 3, throughput: 640 });
  });

  it('tells a process that went away from a run that ended, and believes one that came back', () => {
    const store = filled(START, ...steps(1, 5));
    store.push([], false);
    expect(store.view()).toMatchObject({ status: 'lost', remaining: null });
    store.push([], true);
    expect(store.view().status).toBe('running');
  });

  it('begins anew at a start event, as a source that replays sends it', () => {
    const store = filled(START, ...steps(1, 11), epoch(1, 1006));
    store.push([START, ...steps(1, 5)], true);
    expect(store.view()).toMatchObject({ step: 4, table: { rows: [] } });
    expect(store.view().metrics[0].train.x).toHaveLength(4);
  });

  it('gives an unchanged metric the same curves, and all of them the points there are', () => {
    const store = filled(START, ...steps(1, 11));
    const before = store.view().metrics[0];
    store.push([{ kind: 'status', time: 1006, status: 'paused' }], true);
    expect(store.view().metrics[0]).toBe(before);
    store.push(steps(11, 301), true);
    expect(store.view().metrics[0]).not.toBe(before);
    expect(before.train.y).toHaveLength(300);
    expect(before.train.x).toHaveLength(300);
  });

  it('follows the planned epochs when some are added', () => {
    const store = filled(START, ...steps(1, 11), {
      kind: 'epochs',
      time: 1005,
      epochs: 6
    });
    expect(store.view()).toMatchObject({ epochs: 6, totalSteps: 60 });
    expect(store.view().progress).toBeCloseTo(10 / 60);
    expect(store.view().remaining).toBeCloseTo(25);
    store.push([...steps(11, 45, 1000), epoch(4, 1023)], true);
    expect(store.view().epoch).toBe(5);
    store.push([START], true);
    expect(store.view()).toMatchObject({ epochs: 3, totalSteps: 30 });
  });

  it('knows the learning rate, if no schedule changes it', () => {
    const settings = { learning_rate: 0.003 };
    const store = filled({ ...START, settings });
    const set: RunEvent = {
      kind: 'learning_rate',
      time: 1001,
      step: 4,
      value: 0.001
    };
    expect(store.view().rate).toMatchObject({ now: 0.003, setAt: null });
    store.push([set], true);
    expect(store.view().rate).toMatchObject({ now: 0.001, setAt: 4 });
    const scheduled = { ...settings, schedule: 'cosine_decay' };
    store.push([{ ...START, settings: scheduled }], true);
    expect(store.view().rate).toMatchObject({ now: null, setAt: null });
    expect(filled(START).view().rate.now).toBeNull();
  });

  it('shows the last checkpoint and the last problem, which end nothing', () => {
    const problem: RunEvent = {
      kind: 'problem',
      time: 1001,
      message: 'the disk is full'
    };
    const checkpoint: RunEvent = {
      kind: 'checkpoint',
      time: 1002,
      step: 4,
      path: 'runs/1/step-00000004'
    };
    const store = filled(START, problem, checkpoint);
    expect(store.view()).toMatchObject({
      status: 'running',
      problem,
      checkpoint
    });
    store.push([{ ...problem, message: 'still full' }], true);
    expect(store.view().problem?.message).toBe('still full');
    store.push([START], true);
    expect(store.view()).toMatchObject({ problem: null, checkpoint: null });
  });

  it.each<[RunCommand, RunEvent]>([
    ['pause', { kind: 'status', time: 1003, status: 'paused' }],
    ['stop', { kind: 'end', time: 1003, status: 'stopped' }],
    ['checkpoint', { kind: 'checkpoint', time: 1003, step: 4, path: 'x' }],
    ['checkpoint', { kind: 'problem', time: 1003, message: 'no room' }],
    [
      'learning_rate',
      { kind: 'learning_rate', time: 1003, step: 4, value: 0.1 }
    ],
    ['add_epochs', { kind: 'epochs', time: 1003, epochs: 4 }],
    ['add_epochs', { kind: 'end', time: 1003, status: 'finished' }]
  ])('holds %s until the run acknowledges it', (command, answer) => {
    const store = filled(START);
    store.commandSent(command);
    store.push(steps(1, 5), true);
    expect(store.view().pending).toEqual([command]);
    store.push([answer], true);
    expect(store.view().pending).toEqual([]);
  });

  it('holds several commands, each until its own answer', () => {
    const store = filled(START);
    store.commandSent('checkpoint');
    store.commandSent('learning_rate');
    store.commandSent('checkpoint');
    expect(store.view().pending).toEqual(['learning_rate', 'checkpoint']);
    store.push([{ kind: 'status', time: 1001, status: 'paused' }], true);
    expect(store.view().pending).toEqual(['learning_rate', 'checkpoint']);
    store.push([{ kind: 'epochs', time: 1002, epochs: 4 }], true);
    store.push(
      [{ kind: 'learning_rate', time: 1002, step: 1, value: 0.1 }],
      true
    );
    expect(store.view().pending).toEqual(['checkpoint']);
    store.commandFailed('checkpoint', 'no answer');
    expect(store.view()).toMatchObject({ pending: [], trouble: 'no answer' });
  });

  it('shows why a command failed, unless it was acknowledged meanwhile', () => {
    const store = filled(START);
    store.commandSent('stop');
    store.commandFailed('stop', 'no connection');
    expect(store.view()).toMatchObject({
      pending: [],
      trouble: 'no connection'
    });
    store.commandFailed('pause', 'late');
    expect(store.view().trouble).toBe('no connection');
  });

  it('tells its listeners once a frame', () => {
    const frames: (() => void)[] = [];
    const store = new RunStore(flush => frames.push(flush));
    const listener = jest.fn();
    const unsubscribe = store.subscribe(listener);
    store.push([START], true);
    store.push(steps(1, 5), true);
    expect(frames).toHaveLength(1);
    expect(store.view().status).toBe('waiting');
    frames[0]();
    expect(listener).toHaveBeenCalledTimes(1);
    expect(store.view().step).toBe(4);
    unsubscribe();
    store.push(steps(5, 7), true);
    frames[1]();
    expect(listener).toHaveBeenCalledTimes(1);
  });
});
