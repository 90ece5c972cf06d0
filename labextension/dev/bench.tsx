// The page of tests/bench/dashboard.py: dashboards over runs that are fed from outside, as fast as one likes.
import { createRoot } from 'react-dom/client';
import { Dashboard } from '../src/runs/dashboard/Dashboard';
import { RunState } from '../src/runs/store/run-state';
import type { RunEvent, RunListener, RunSource } from '../src/runs/store/source';
import { plainTranslator } from '../src/ui/translator';
import '../style/dashboard.css';

/** A run of noise whose clock goes as it is told. */
class Fed implements RunSource {
  private readonly _listeners = new Set<RunListener>();
  private _step = 0;
  private _time = 1_700_000_000;

  constructor(private readonly _metrics: readonly string[]) {}

  subscribe(listener: RunListener): () => void {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  async command(): Promise<void> {}

  begin(): void {
    this._tell([start(this._time, this._metrics)]);
  }

  /** So many events of steps, each of so many seconds and steps, with what a run tells besides. */
  feed(events: number, seconds: number, steps: number): void {
    const told: RunEvent[] = [];
    for (let i = 0; i < events; i++) {
      this._time += seconds;
      told.push(columns(this._time, this._step, steps, this._metrics));
      this._step += steps;
      told.push(...besides(this._time, this._step, steps));
    }
    this._tell(told);
  }

  private _tell(events: readonly RunEvent[]): void {
    this._listeners.forEach(listener => listener(events, true));
  }
}

function start(time: number, metrics: readonly string[]): RunEvent {
  return {
    kind: 'start',
    time,
    version: 2,
    model: 'noise',
    backend: 'torch',
    epochs: 1000,
    steps_per_epoch: 10_000,
    batch_size: 32,
    metrics: metrics.slice(1)
  };
}

function columns(
  time: number,
  from: number,
  count: number,
  metrics: readonly string[]
): RunEvent {
  const step = Float64Array.from({ length: count }, (_, i) => from + i + 1);
  const column = () =>
    Float32Array.from(step, at => Math.exp(-at / 1e6) + 0.3 * Math.random());
  return {
    kind: 'steps',
    time,
    step,
    ...Object.fromEntries(metrics.map(name => [name, column()]))
  };
}

function besides(time: number, step: number, steps: number): RunEvent[] {
  const each = 1e-3 + 1e-4 * Math.random();
  return [
    {
      kind: 'pace',
      time,
      step,
      steps,
      samples: 32 * steps,
      data: each * steps,
      compute: 5 * each * steps,
      update: each * steps
    },
    { kind: 'rate', time, step: [step], value: [1e-3 * Math.random()] },
    {
      kind: 'system',
      time,
      cpu: 200,
      memory: 1e9 + 1e7 * Math.random(),
      cpu_total: 50,
      memory_used: 8e9,
      gpus: []
    }
  ];
}

let runs: Fed[] = [];

const bench = {
  show(count: number, metrics: string[]): void {
    runs = Array.from({ length: count }, () => new Fed(metrics));
    for (const source of runs) {
      const element = document.createElement('div');
      document.body.append(element);
      createRoot(element).render(
        <Dashboard source={source} trans={plainTranslator} />
      );
    }
  },
  begin: () => runs.forEach(run => run.begin()),
  feed: (events: number, seconds: number, steps: number) =>
    runs.forEach(run => run.feed(events, seconds, steps)),
  /** Milliseconds to take in so many steps of two metrics, in pieces of so many. */
  apply(steps: number, piece: number): number {
    const state = new RunState();
    const events = [start(0, ['loss', 'accuracy'])];
    for (let from = 0; from < steps; from += piece) {
      events.push(columns(from / 500, from, piece, ['loss', 'accuracy']));
    }
    const began = performance.now();
    events.forEach(event => state.apply(event));
    state.snapshot(true);
    return performance.now() - began;
  }
};

export type Bench = typeof bench;
Object.assign(window, { labdlBench: bench });
