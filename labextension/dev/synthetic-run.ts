// A run that never happened: figures of a plausible training, live or all at once.
import type {
  CommandValue,
  RunCommand,
  RunEvent,
  RunListener,
  RunSource
} from '../src/runs/store/source';

const LAYERS = ['stem', 'block/conv', 'block/norm', 'block/relu', 'head'];
const PER_FLUSH = 3;

interface Shape {
  stepsPerEpoch: number;
  epochs: number;
  metrics: string[];
  /** Steps in one event. */
  flush: number;
  validation: boolean;
}

const USUAL: Shape = {
  stepsPerEpoch: 45,
  epochs: 4,
  metrics: ['accuracy'],
  flush: PER_FLUSH,
  validation: true
};

/** What is otherwise than usual, by the names of the cases. */
const SHAPES: Record<string, Partial<Shape>> = {
  long: { stepsPerEpoch: 10_000, epochs: 10, flush: 50 },
  hundred: { stepsPerEpoch: 1000, epochs: 100, flush: 50 },
  metrics: {
    metrics: [
      'accuracy',
      'top5',
      'f1',
      'a_metric_with_quite_a_long_name_of_its_own'
    ]
  },
  bare: { metrics: [], validation: false },
  nan: { stepsPerEpoch: 400, epochs: 5, flush: 10 }
};

export class SyntheticRun implements RunSource {
  private readonly _events: RunEvent[] = [];
  private readonly _listeners = new Set<RunListener>();
  private readonly _shape: Shape;
  private _epochs: number;
  private _step = 0;
  private _status = 'running';

  constructor(private readonly _case: string) {
    this._shape = { ...USUAL, ...SHAPES[_case] };
    this._epochs = this._shape.epochs;
    if (_case === 'empty') {
      return;
    }
    const time = Date.now() / 1000;
    this._begin(time, _case === 'old' ? 1 : 2);
    if (_case in SHAPES && _case !== 'metrics' && _case !== 'bare') {
      for (let i = 0; this._status === 'running'; i++) {
        this._flush(time + i * 0.2, this._shape.flush);
      }
    } else if (_case === 'failed' || _case === 'lost') {
      for (let i = 0; i < 30; i++) {
        this._flush(time + i * 0.2, PER_FLUSH);
      }
      if (_case === 'failed') {
        this._events.push({
          kind: 'end',
          time: time + 6,
          status: 'failed',
          message:
            "ValueError: Conv2d 'stem' wants 4 axes (N, C, H, W), received (32, 64): add nn.Reshape before it"
        });
      }
    } else {
      setInterval(() => this._tick(), 200);
    }
  }

  subscribe(listener: RunListener): () => void {
    listener(this._events, this._case !== 'lost');
    this._listeners.add(listener);
    return () => {
      this._listeners.delete(listener);
    };
  }

  async command(
    name: RunCommand,
    value?: CommandValue,
    id = ''
  ): Promise<void> {
    setTimeout(() => {
      const time = Date.now() / 1000;
      const step = this._step;
      const refused = name === 'branch';
      this._send([
        ...this._answer(name, typeof value === 'number' ? value : 0),
        {
          kind: 'command',
          time,
          id,
          command: name,
          step,
          status: refused ? 'refused' : 'done',
          message: refused ? 'a run that never happened has no branches' : null
        }
      ]);
    }, 300);
  }

  private _begin(time: number, version: number): void {
    const { stepsPerEpoch, metrics } = this._shape;
    this._events.push({
      kind: 'start',
      time,
      version,
      model: 'digits',
      backend: 'torch',
      epochs: this._epochs,
      steps_per_epoch: stepsPerEpoch,
      batch_size: 32,
      metrics,
      higher: metrics,
      settings: { learning_rate: 0.003 },
      environment: {
        cores: 8,
        memory: 16e9,
        gpus: [{ name: 'NVIDIA H100', memory: 80e9 }]
      }
    });
    if (version > 1) {
      this._events.push({ kind: 'rate', time, step: [0], value: [0.003] });
    }
  }

  private _answer(name: RunCommand, value: number): RunEvent[] {
    const time = Date.now() / 1000;
    const step = this._step;
    switch (name) {
      case 'stop':
        this._status = 'stopped';
        return [{ kind: 'end', time, status: 'stopped' }];
      case 'pause':
        this._status = 'paused';
        return [{ kind: 'status', time, status: 'paused', step }];
      case 'resume':
        this._status = 'running';
        return [{ kind: 'status', time, status: 'running', step }];
      case 'step': {
        const from = this._events.length;
        this._flush(time, 1);
        return this._events.splice(from);
      }
      case 'checkpoint':
        return [{ kind: 'checkpoint', time, step, path: `step-${step}` }];
      case 'learning_rate':
        return [
          { kind: 'learning_rate', time, step, value },
          { kind: 'rate', time, step: [step], value: [value] }
        ];
      case 'add_epochs':
        this._epochs += value;
        return [{ kind: 'epochs', time, epochs: this._epochs, step }];
      case 'branch':
        return [];
    }
  }

  private _tick(): void {
    if (this._status === 'running') {
      const from = this._events.length;
      this._flush(Date.now() / 1000, PER_FLUSH);
      this._listeners.forEach(listener =>
        listener(this._events.slice(from), true)
      );
    }
  }

  private _send(events: RunEvent[]): void {
    this._events.push(...events);
    this._listeners.forEach(listener => listener(events, true));
  }

  private _flush(time: number, count: number): void {
    const { stepsPerEpoch, metrics, validation } = this._shape;
    const step = Array.from({ length: count }, (_, i) => this._step + i + 1);
    const scale = (stepsPerEpoch * this._epochs) / 4;
    const noise = () =>
      (Math.random() + Math.random() + Math.random() - 1.5) / 1.5;
    const isBroken = (s: number) =>
      this._case === 'nan' && s % 900 > 700 && s % 900 < 760;
    const loss = step.map(s =>
      isBroken(s)
        ? null
        : 2.3 * Math.exp(-s / scale) * (1 + 0.3 * noise()) +
          0.05 * Math.random()
    );
    const good = (s: number) =>
      Math.min(1, 1 - 0.9 * Math.exp(-s / scale) + 0.06 * noise());
    const columns = Object.fromEntries(
      metrics.map(name => [name, step.map(good)])
    );
    this._events.push({ kind: 'steps', time, step, loss, ...columns });
    this._step += count;
    if (this._case !== 'old') {
      this._measure(time, count, noise);
    }
    if (this._step % stepsPerEpoch === 0) {
      const rest = Math.exp(-this._step / scale);
      this._events.push({
        kind: 'epoch',
        time,
        epoch: this._step / stepsPerEpoch,
        step: this._step,
        loss: 2.3 * rest,
        ...Object.fromEntries(
          metrics.flatMap(name => [
            [name, 1 - 0.9 * rest],
            ...(validation ? [[`val_${name}`, 0.98 - 0.9 * rest]] : [])
          ])
        ),
        ...(validation ? { val_loss: 2.2 * rest + 0.12 } : {}),
        samples_per_second: (32 * count) / 0.2
      });
      if (this._step >= stepsPerEpoch * this._epochs) {
        this._status = 'finished';
        this._events.push({
          kind: 'end',
          time,
          status: 'finished',
          message: null
        });
      }
    }
  }

  /** What a run of version 2 tells besides its figures. */
  private _measure(time: number, count: number, noise: () => number): void {
    const step = this._step;
    const each = (1 + 0.1 * noise()) / 1000;
    this._events.push({
      kind: 'pace',
      time,
      step,
      steps: count,
      samples: 32 * count,
      data: 1.2 * each * count,
      compute: 7 * each * count,
      update: this._case === 'nan' ? null : 2 * each * count
    });
    if (step % (10 * count) === 0) {
      this._events.push({
        kind: 'system',
        time,
        cpu: 220 + 40 * noise(),
        memory: 1.1e9 + step * 2e3,
        cpu_total: 45 + 10 * noise(),
        memory_used: 8.2e9,
        gpus:
          this._case === 'live'
            ? [{ use: 71 + 9 * noise(), memory: 3.1e9, memory_used: 4.4e9 }]
            : []
      });
      const isDead = this._case === 'nan';
      this._events.push({
        kind: 'health',
        time,
        step,
        samples: 32,
        layers: LAYERS,
        parameters: {
          of: [0, 1, 2, 4],
          gradient: [0.3, 0.2, 0.05, isDead ? null : 0.4].map(
            g => g && g * (1 + 0.5 * noise())
          ),
          weights: [3, 4, 1, 2],
          update: [1e-3, 2e-3, 1e-3, isDead ? 0.3 : 3e-3]
        },
        outputs: {
          of: [0, 1, 2, 3, 4],
          mean: [0, 0, 0, 0.4, 0],
          std: [1, 1, 1, 0.6, 2],
          largest: [4, 4, 4, 4, 9],
          zeros: [0, 0, 0, isDead ? 1 : 0.52 + 0.03 * noise(), 0],
          not_finite: [0, 0, 0, 0, isDead ? 12 : 0]
        }
      });
    }
    if (this._case === 'nan' && step === 800) {
      this._events.push(
        { kind: 'rate', time, step: [step], value: [0.001] },
        { kind: 'learning_rate', time, step, value: 0.001 },
        {
          kind: 'alert',
          time,
          step,
          alert: 'not_finite',
          level: 'error',
          message:
            'The loss was not finite for 60 steps: try a smaller learning rate.'
        }
      );
    }
  }
}
