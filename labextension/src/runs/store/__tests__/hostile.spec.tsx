import { act, cleanup, render } from '@testing-library/react';
import { plainTranslator } from '../../../ui/translator';
import { Dashboard } from '../../dashboard/Dashboard';
import { RunState } from '../run-state';
import type { RunEvent, RunListener, RunSource } from '../source';

jest.mock('../../charts/plot', () => ({
  Plot: class {
    show() {}
    setWindow() {}
    leaveCursor() {}
    resize() {}
    destroy() {}
  }
}));
jest.mock('uplot', () => ({ __esModule: true, default: class {} }));

beforeAll(() => {
  globalThis.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
});
afterEach(cleanup);

const FIELDS: { [kind: string]: string[] } = {
  start: [
    'version',
    'step',
    'model',
    'backend',
    'epochs',
    'steps_per_epoch',
    'batch_size',
    'metrics',
    'higher',
    'lower',
    'settings',
    'environment',
    'parent',
    'params'
  ],
  steps: ['step', 'loss', 'accuracy'],
  epoch: ['epoch', 'step', 'loss', 'val_loss', 'samples_per_second'],
  rate: ['step', 'value'],
  pace: ['step', 'steps', 'samples', 'data', 'compute', 'update'],
  system: ['cpu', 'memory', 'cpu_total', 'memory_used', 'gpus'],
  status: ['status', 'step'],
  learning_rate: ['step', 'value'],
  epochs: ['epochs', 'step'],
  checkpoint: ['step', 'path'],
  branch: ['step', 'id', 'folder'],
  command: ['id', 'command', 'value', 'step', 'status', 'message'],
  problem: ['message'],
  alert: ['alert', 'level', 'step', 'message'],
  health: ['step', 'samples', 'layers', 'parameters', 'outputs'],
  end: ['status', 'message', 'place', 'summary'],
  nonsense: ['step']
};

const VALUES: unknown[] = [
  undefined,
  null,
  0,
  -1,
  3,
  1e300,
  NaN,
  Infinity,
  '',
  '<img src=x onerror=alert(1)>',
  'running',
  '__proto__',
  true,
  [],
  [1, 2, 3],
  ['a', null, {}],
  [[1], [2]],
  {},
  { of: [0, 99], gradient: ['x', null], zeros: [1] },
  { best: { loss: null, val_loss: { value: 'x' } }, name: {}, gpus: 3 },
  { learning_rate: [], schedule: {} },
  new Float32Array(3)
];

/** Events of every kind with arbitrary values in their fields, reproducible by the seed. */
function* hostile(seed: number, count: number): Generator<RunEvent> {
  let state = seed;
  const pick = <T,>(all: readonly T[]): T => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return all[(state >>> 8) % all.length];
  };
  const kinds = Object.keys(FIELDS);
  for (let i = 0; i < count; i++) {
    const kind = pick(kinds);
    const given = FIELDS[kind].map(name => [name, pick(VALUES)]);
    const time = pick([i, i, i, ...VALUES]);
    yield { kind, time, ...Object.fromEntries(given) } as RunEvent;
  }
}

it('folds whatever a file may say', () => {
  const state = new RunState();
  for (const event of hostile(7, 20_000)) {
    state.apply(event);
  }
  state.apply({ kind: 'start', time: 1, epochs: 1, steps_per_epoch: 2 });
  state.apply({ kind: 'steps', time: 2, step: [1, 2], loss: [0.5, 0.25] });
  const view = state.snapshot(true);
  expect([view.step, view.status]).toEqual([2, 'running']);
  expect(view.metrics[0].train.last()).toBe(0.25);
});

it('shows whatever a file may say', async () => {
  for (let seed = 1; seed <= 25; seed++) {
    const listeners = new Set<RunListener>();
    const source: RunSource = {
      subscribe: listener => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      command: async () => {}
    };
    const { container, unmount } = render(
      <Dashboard source={source} trans={plainTranslator} />
    );
    await act(async () => {
      const start: RunEvent = { kind: 'start', time: 0, version: 2 };
      const steps = { kind: 'steps', time: 0, step: [1], loss: [1] } as const;
      const events = [start, steps, ...hostile(seed, 150)];
      listeners.forEach(listener => listener(events, true));
      await new Promise(resolve => requestAnimationFrame(resolve));
    });
    expect(container.querySelector('.labdl-dashboard-header')).not.toBeNull();
    expect(container.querySelector('img')).toBeNull();
    unmount();
  }
});
