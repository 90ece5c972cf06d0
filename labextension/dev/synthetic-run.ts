// A run that never happened: figures of a plausible training, live or all at once.
import type {
  RunCommand,
  RunEvent,
  RunListener,
  RunSource
} from '../src/dashboard/source';

const STEPS_PER_EPOCH: Record<string, number> = { long: 10_000 };
const EPOCHS: Record<string, number> = { long: 10 };
const PER_FLUSH = 3;

export class SyntheticRun implements RunSource {
  private readonly _events: RunEvent[] = [];
  private readonly _listeners = new Set<RunListener>();
  private readonly _stepsPerEpoch: number;
  private _epochs: number;
  private _step = 0;
  private _status = 'running';

  constructor(private readonly _case: string) {
    this._stepsPerEpoch = STEPS_PER_EPOCH[_case] ?? 45;
    this._epochs = EPOCHS[_case] ?? 4;
    if (_case === 'empty') {
      return;
    }
    const time = Date.now() / 1000;
    this._events.push({
      kind: 'start',
      time,
      model: 'digits',
      backend: 'torch',
      epochs: this._epochs,
      steps_per_epoch: this._stepsPerEpoch,
      batch_size: 32,
      metrics: ['accuracy'],
      settings: { learning_rate: 0.003 }
    });
    if (_case === 'long') {
      for (let i = 0; this._status === 'running'; i++) {
        this._flush(time + i * 0.2, 50);
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

  async command(name: RunCommand, value = 0): Promise<void> {
    setTimeout(() => this._send([this._answer(name, value)]), 300);
  }

  private _answer(name: RunCommand, value: number): RunEvent {
    const time = Date.now() / 1000;
    const step = this._step;
    switch (name) {
      case 'stop':
        this._status = 'stopped';
        return { kind: 'end', time, status: 'stopped' };
      case 'pause':
        this._status = 'paused';
        return { kind: 'status', time, status: 'paused' };
      case 'resume':
        this._status = 'running';
        return { kind: 'status', time, status: 'running' };
      case 'checkpoint':
        return { kind: 'checkpoint', time, step, path: `step-${step}` };
      case 'learning_rate':
        return { kind: 'learning_rate', time, step, value };
      case 'add_epochs':
        this._epochs += value;
        return { kind: 'epochs', time, epochs: this._epochs };
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
    const step = Array.from({ length: count }, (_, i) => this._step + i + 1);
    const scale = (this._stepsPerEpoch * this._epochs) / 4;
    const noise = () =>
      (Math.random() + Math.random() + Math.random() - 1.5) / 1.5;
    const loss = step.map(
      s =>
        2.3 * Math.exp(-s / scale) * (1 + 0.3 * noise()) + 0.05 * Math.random()
    );
    const accuracy = step.map(s =>
      Math.min(1, 1 - 0.9 * Math.exp(-s / scale) + 0.06 * noise())
    );
    this._events.push({ kind: 'steps', time, step, loss, accuracy });
    this._step += count;
    if (this._step % this._stepsPerEpoch === 0) {
      const rest = Math.exp(-this._step / scale);
      this._events.push({
        kind: 'epoch',
        time,
        epoch: this._step / this._stepsPerEpoch,
        step: this._step,
        loss: 2.3 * rest,
        accuracy: 1 - 0.9 * rest,
        val_loss: 2.2 * rest + 0.12,
        val_accuracy: 0.98 - 0.9 * rest,
        samples_per_second: (32 * count) / 0.2
      });
      if (this._step >= this._stepsPerEpoch * this._epochs) {
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
}
