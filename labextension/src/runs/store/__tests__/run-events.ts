// Events of a run for the tests of the tabs; docs/runs.md specifies them.
import type {
  HealthEvent,
  HistogramsEvent,
  PredictionsEvent,
  RunEvent,
  ShownArray,
  StartEvent
} from '../source';

export const TIME = 1_795_371_390;

export const START: StartEvent = {
  kind: 'start',
  time: TIME,
  version: 2,
  id: '20261122-181630-3f9a1c',
  pid: 4711,
  host: 'workstation',
  model: 'digits',
  backend: 'torch',
  parameters: 12_810,
  epochs: 4,
  steps_per_epoch: 45,
  batch_size: 32,
  samples: 1437,
  step: 0,
  loss: 'cross_entropy',
  optimizer: 'Adam',
  metrics: ['accuracy'],
  settings: { learning_rate: 0.003, seed: 0, clip: null },
  environment: {
    python: '3.12.3',
    labdl: '0.1.0',
    framework: '2.8.0',
    numpy: '2.1.0',
    platform: 'Linux-6.8 x86_64',
    processor: 'AMD EPYC',
    cores: 8,
    memory: 32e9,
    gpus: [{ name: 'NVIDIA H100', memory: 80e9 }]
  },
  parent: { id: 'first-run', folder: '../first-run', step: 90 },
  group: 'widths',
  params: { width: 64 }
};

export const CLASSES = Array.from({ length: 10 }, (_, i) => `digit ${i}`);

/** Gray image of size × size pixels. */
export function picture(size = 8, seed = 0): ShownArray {
  let data = '';
  for (let i = 0; i < size * size; i++) {
    const [x, y] = [(i % size) - size / 2, Math.floor(i / size) - size / 2];
    const ring = Math.abs(Math.hypot(x, y) - size / 4 - (seed % 3));
    data += String.fromCharCode(Math.max(0, Math.round(255 - 90 * ring)));
  }
  return {
    picture: {
      width: size,
      height: size,
      tiles: 1,
      channels: 1,
      colors: 1,
      low: 0,
      high: 1,
      data: btoa(data)
    },
    shape: [1, size, size]
  };
}

export function health(step: number, layers: readonly string[]): HealthEvent {
  const of = layers.map((_, place) => place);
  const fall = Math.exp(-step / 90);
  return {
    kind: 'health',
    time: TIME + step / 10,
    step,
    samples: 32,
    layers: [...layers],
    parameters: {
      of,
      gradient: of.map(i => 2 * fall * 0.9 ** (i % 50) + 0.01),
      weights: of.map(i => 4 + 0.01 * step + (i % 7)),
      update: of.map(() => 0.002 * fall + 1e-4)
    },
    outputs: {
      of,
      mean: of.map(i => 0.1 * Math.sin(i + step / 30)),
      std: of.map(i => 1 + 0.2 * Math.cos(i)),
      largest: of.map(() => 4.2),
      zeros: of.map(i => (i % 4) / 5),
      not_finite: of.map(() => 0)
    }
  };
}

const BINS = 24;

export function histograms(
  step: number,
  layers: readonly string[]
): HistogramsEvent {
  const of = layers.map((_, place) => place);
  const spread = (width: number) => ({
    of,
    low: of.map(() => -width),
    high: of.map(() => width),
    counts: of.map(i =>
      Array.from({ length: BINS }, (_, bin) => {
        const x = ((bin + 0.5) / BINS) * 2 - 1;
        return Math.round(1000 * Math.exp(-((x * (3 + (i % 2))) ** 2)));
      })
    )
  });
  return {
    kind: 'histograms',
    time: TIME + step / 10,
    step,
    layers: [...layers],
    weights: spread(0.3 + step / 400),
    gradients: spread(0.5 * Math.exp(-step / 90) + 0.05),
    outputs: spread(2)
  };
}

export function predictions(epoch: number): PredictionsEvent {
  const sure = epoch / (epoch + 1);
  return {
    kind: 'predictions',
    time: TIME + epoch * 5,
    epoch,
    step: epoch * 45,
    outputs: CLASSES.slice(0, 8).map((_, i) => {
      const isRight = i < epoch * 2;
      const rest = (1 - sure) / 4;
      const said = isRight ? i : (i + 1) % 10;
      const others = [i, (i + 1) % 10, (i + 2) % 10, (i + 3) % 10, (i + 4) % 10]
        .filter(place => place !== said)
        .slice(0, 4);
      return {
        classes: [said, ...others],
        scores: [sure, rest, rest, rest, rest]
      };
    })
  };
}

export function confusion(epoch: number, classes: number): RunEvent {
  const counts = Array.from({ length: classes }, (_, truth) =>
    Array.from({ length: classes }, (_, said) =>
      truth === said
        ? 20 + 4 * epoch
        : (truth * 7 + said * 3) % 11 === 0
          ? Math.max(1, 12 - 3 * epoch)
          : 0
    )
  );
  return {
    kind: 'confusion',
    time: TIME + epoch * 5,
    epoch,
    step: epoch * 45,
    counts
  };
}

/** Events of an image classification with four epochs. */
export function recordedEvents(
  layers: readonly string[] = ['stem', 'block/conv', 'block/norm', 'head']
): RunEvent[] {
  const events: RunEvent[] = [
    START,
    {
      kind: 'samples',
      time: TIME + 1,
      task: 'classification',
      classes: CLASSES,
      samples: CLASSES.slice(0, 8).map((_, i) => ({
        index: 17 * i,
        input: picture(8, i),
        target: { class: i }
      }))
    }
  ];
  for (let step = 5; step <= 180; step += 5) {
    if (step % 10 === 0) {
      events.push(health(step, layers), histograms(step, layers), {
        kind: 'system',
        time: TIME + step / 10,
        cpu: 320 + 40 * Math.sin(step),
        memory: 1.2e9 + 1e6 * step,
        cpu_total: 55 + 5 * Math.cos(step),
        memory_used: 9e9,
        gpus: [{ use: 71 + (step % 7), memory: 2.1e9, memory_used: 3e9 }]
      });
    }
    if (step % 45 === 0) {
      events.push(...epochEnd(step / 45));
    }
  }
  events.push(
    {
      kind: 'alert',
      time: TIME + 12,
      step: 120,
      alert: 'overfitting',
      level: 'warning',
      message:
        'The validation loss has risen from 0.31 to 0.42 in the last 3 epochs while the training loss fell. Early stopping or more regularization may help.'
    },
    {
      kind: 'text',
      time: TIME + 12,
      step: 110,
      name: 'sample',
      text: 'To be, or not to be'
    },
    {
      kind: 'text',
      time: TIME + 12,
      step: 120,
      name: 'sample',
      text: 'The lady doth protest'
    },
    {
      kind: 'text',
      time: TIME + 12,
      step: 120,
      name: 'notes',
      text: 'Second layer frozen'
    },
    { kind: 'status', time: TIME + 13, status: 'paused', step: 130 },
    {
      kind: 'command',
      time: TIME + 14,
      id: 'a',
      command: 'learning_rate',
      value: -1 as number,
      step: 130,
      status: 'refused',
      message: 'The learning rate must be at least 0.'
    },
    {
      kind: 'log',
      time: TIME + 15,
      level: 'WARNING',
      source: 'py.warnings',
      message: 'UserWarning: lr_scheduler.step() before optimizer.step()'
    },
    {
      kind: 'end',
      time: TIME + 18,
      status: 'finished',
      message: null
    }
  );
  return events;
}

function epochEnd(epoch: number): RunEvent[] {
  return [
    {
      kind: 'epoch',
      time: TIME + epoch * 4.5,
      epoch,
      step: epoch * 45,
      loss: 1 / epoch,
      val_loss: 1.1 / epoch,
      samples_per_second: 3200
    },
    predictions(epoch),
    confusion(epoch, 10),
    {
      kind: 'worst',
      time: TIME + epoch * 4.5,
      epoch,
      step: epoch * 45,
      samples: [3, 5, 8].map(i => ({
        index: 100 * epoch + i,
        loss: 8 - i / 2,
        input: picture(8, i),
        target: { class: i },
        output: { classes: [(i + 1) % 10, i], scores: [0.9, 0.1] }
      }))
    }
  ];
}
