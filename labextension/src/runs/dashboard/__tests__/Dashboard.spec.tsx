import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  within
} from '@testing-library/react';
import { plainTranslator } from '../../../ui/translator';
import { Dashboard } from '../Dashboard';
import type {
  CommandValue,
  RunCommand,
  RunEvent,
  RunListener,
  RunSource
} from '../../store/source';

const drawn = { created: 0, destroyed: 0 };

// jsdom has no canvas: charts are tested in a browser.
jest.mock('../../charts/plot', () => ({
  ...jest.requireActual('../../charts/plot'),
  Plot: class {
    constructor() {
      drawn.created++;
    }
    show() {}
    setWindow() {}
    leaveCursor() {}
    resize() {}
    recolor() {}
    destroy() {
      drawn.destroyed++;
    }
  }
}));
jest.mock('uplot', () => ({ __esModule: true, default: class {} }));

class Source implements RunSource {
  listeners = new Set<RunListener>();
  commands: (RunCommand | [RunCommand, CommandValue])[] = [];
  ids: (string | undefined)[] = [];
  failure: Error | null = null;

  subscribe(listener: RunListener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async command(name: RunCommand, value?: CommandValue, id?: string) {
    this.ids.push(id);
    this.commands.push(value === undefined ? name : [name, value]);
    if (this.failure) {
      throw this.failure;
    }
  }

  async emit(events: RunEvent[], alive = true) {
    await act(async () => {
      this.listeners.forEach(listener => listener(events, alive));
      await new Promise(resolve => requestAnimationFrame(resolve));
    });
  }
}

const START: RunEvent = {
  kind: 'start',
  time: 0,
  model: 'digits',
  backend: 'torch',
  epochs: 3,
  steps_per_epoch: 2,
  settings: { learning_rate: 0.003 }
};
const STEPS: RunEvent = {
  kind: 'steps',
  time: 1,
  step: [1, 2],
  loss: [0.5, 0.25]
};
const EPOCH: RunEvent = {
  kind: 'epoch',
  time: 1,
  epoch: 1,
  step: 2,
  loss: 0.4,
  val_loss: 0.75
};

function show() {
  const source = new Source();
  const { container } = render(
    <Dashboard source={source} trans={plainTranslator} />
  );
  const find = (selector: string) => container.querySelector(selector);
  const button = (name: RunCommand) =>
    find(`button[data-command="${name}"]`) as HTMLButtonElement;
  const field = (name: RunCommand) =>
    find(`input[data-command="${name}"]`) as HTMLInputElement;
  return {
    source,
    find,
    button,
    field,
    enter: (name: RunCommand, value: string) => {
      fireEvent.change(field(name), { target: { value } });
      fireEvent.submit(field(name));
    },
    status: () => find('.labdl-dashboard')?.getAttribute('data-status')
  };
}

beforeAll(() => {
  globalThis.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
});

afterEach(cleanup);

describe('Dashboard', () => {
  it('waits for the first batch', async () => {
    const { source, status, button } = show();
    expect(status()).toBe('waiting');
    expect(screen.getByText('Waiting for the first batch…')).toBeTruthy();
    expect(button('pause').disabled).toBe(true);
    await source.emit([START]);
    expect(status()).toBe('running');
    expect(screen.getByText('Waiting for the first batch…')).toBeTruthy();
  });

  it('shows the figures of a run', async () => {
    const { source, find } = show();
    await source.emit([START, STEPS, EPOCH]);
    expect(find('.labdl-dashboard-epoch')?.textContent).toBe('Epoch 1 of 3');
    expect(find('.labdl-metric[data-metric="val_loss"]')?.textContent).toBe(
      '0.7500'
    );
    expect(find('[role="progressbar"]')?.getAttribute('aria-valuenow')).toBe(
      '33'
    );
    expect(find('.labdl-dashboard-summary')?.textContent).toContain(
      'val_loss 0.7500'
    );
  });

  it('offers the commands that fit, and not the one that waits for its answer', async () => {
    const { source, button } = show();
    const enabled = () =>
      (['pause', 'resume', 'stop', 'checkpoint'] as const).filter(
        name => !button(name).disabled
      );
    await source.emit([START, STEPS]);
    expect(enabled()).toEqual(['pause', 'stop', 'checkpoint']);
    fireEvent.click(button('pause'));
    fireEvent.click(button('checkpoint'));
    await source.emit([]);
    expect(source.commands).toEqual(['pause', 'checkpoint']);
    expect(enabled()).toEqual(['stop']);
    expect(button('pause').getAttribute('aria-busy')).toBe('true');
    await source.emit([{ kind: 'status', time: 2, status: 'paused' }]);
    expect(enabled()).toEqual(['resume', 'stop']);
    await source.emit([
      { kind: 'checkpoint', time: 2, step: 2, path: 'runs/1/step-00000002' }
    ]);
    expect(enabled()).toEqual(['resume', 'stop', 'checkpoint']);
    expect(screen.getByText('step 2').parentElement?.title).toBe(
      'runs/1/step-00000002'
    );
    await source.emit([{ kind: 'end', time: 3, status: 'stopped' }]);
    expect(enabled()).toEqual([]);
  });

  it('sets the learning rate on Enter, and shows what the run says', async () => {
    const { source, field, enter, find } = show();
    await source.emit([START, STEPS]);
    const rate = () => field('learning_rate');
    expect(screen.getByLabelText('Learning rate')).toBe(rate());
    expect(rate().placeholder).toBe('0.003');
    enter('learning_rate', '1e-4');
    await source.emit([]);
    expect(source.commands).toEqual([['learning_rate', 1e-4]]);
    expect([rate().value, rate().placeholder, rate().readOnly]).toEqual([
      '1e-4',
      '0.003',
      true
    ]);
    fireEvent.submit(rate());
    expect(source.commands).toHaveLength(1);
    await source.emit([
      { kind: 'learning_rate', time: 2, step: 3, value: 1e-4 }
    ]);
    expect([rate().value, rate().placeholder, rate().readOnly]).toEqual([
      '',
      '0.0001',
      false
    ]);
    expect(
      find('[data-chart="Learning rate"] figcaption')?.getAttribute('title')
    ).toBe('Set manually after step 3');
  });

  it('adds epochs', async () => {
    const { source, field, enter, find } = show();
    await source.emit([START, STEPS]);
    enter('add_epochs', '2');
    expect(source.commands).toEqual([['add_epochs', 2]]);
    await source.emit([{ kind: 'epochs', time: 2, epochs: 5 }]);
    expect(find('.labdl-dashboard-epoch')?.textContent).toBe('Epoch 1 of 5');
    expect(field('add_epochs').value).toBe('');
    await source.emit([{ kind: 'end', time: 3, status: 'stopped' }]);
    expect(field('add_epochs')).toBeNull();
  });

  it.each<[RunCommand, string, string]>([
    [
      'learning_rate',
      'fast',
      'The learning rate must be a number of at least 0.'
    ],
    [
      'learning_rate',
      '-1',
      'The learning rate must be a number of at least 0.'
    ],
    [
      'learning_rate',
      '1e999',
      'The learning rate must be a number of at least 0.'
    ],
    [
      'add_epochs',
      '0',
      'The number of epochs must be an integer of at least 1.'
    ],
    [
      'add_epochs',
      '1.5',
      'The number of epochs must be an integer of at least 1.'
    ]
  ])('does not send %s %s', async (name, value, sentence) => {
    const { source, field, enter } = show();
    await source.emit([START, STEPS]);
    enter(name, value);
    expect(source.commands).toEqual([]);
    const alert = screen.getByRole('alert');
    expect(alert.textContent).toBe(sentence);
    expect(field(name).getAttribute('aria-describedby')).toBe(alert.id);
    expect(field(name).getAttribute('aria-invalid')).toBe('true');
    fireEvent.keyDown(field(name), { key: 'Escape' });
    expect(field(name).value).toBe('');
    expect(screen.queryByRole('alert')).toBeNull();
    fireEvent.submit(field(name));
    expect(source.commands).toEqual([]);
  });

  it('keeps what was typed when it did not arrive', async () => {
    const { source, field, enter } = show();
    await source.emit([START, STEPS]);
    source.failure = new Error('The server cannot be reached.');
    enter('learning_rate', '0.1');
    await source.emit([]);
    expect(screen.getByText('The server cannot be reached.')).toBeTruthy();
    expect(field('learning_rate').value).toBe('0.1');
    expect(field('learning_rate').readOnly).toBe(false);
  });

  it('shows a problem that does not end the run', async () => {
    const { source, status, find } = show();
    await source.emit([
      START,
      STEPS,
      { kind: 'problem', time: 2, message: 'the disk is full' }
    ]);
    expect(status()).toBe('running');
    expect(find('.labdl-dashboard-note')?.textContent).toMatch(
      /^.*\d.*: the disk is full$/
    );
  });

  it('says why a command did not arrive', async () => {
    const { source, button } = show();
    await source.emit([START, STEPS]);
    source.failure = new Error('The server cannot be reached.');
    fireEvent.click(button('stop'));
    await source.emit([]);
    expect(screen.getByText('The server cannot be reached.')).toBeTruthy();
    expect(button('stop').disabled).toBe(false);
  });

  it('says so when the process has ended, and when the run failed', async () => {
    const { source, button, status } = show();
    await source.emit([START, STEPS], false);
    expect(status()).toBe('lost');
    expect(
      screen.getByText('The process of this run no longer exists.').textContent
    ).toContain('It has no checkpoint to resume from');
    expect(button('stop').disabled).toBe(true);
    await source.emit(
      [
        {
          kind: 'end',
          time: 2,
          status: 'failed',
          message: 'loss is not finite'
        }
      ],
      false
    );
    expect(status()).toBe('failed');
    expect(screen.getByRole('alert').textContent).toBe('loss is not finite');
  });

  it('offers to resume a dead run from its newest checkpoint', async () => {
    const { source, status, find } = show();
    const saved = (step: number) =>
      ({ kind: 'checkpoint', time: 2, step, path: `runs/a "b"/step-${step}`, automatic: true }) as const; // prettier-ignore
    const copied: string[] = [];
    Object.assign(navigator, {
      clipboard: { writeText: async (text: string) => copied.push(text) }
    });
    await source.emit([START, STEPS, saved(1), saved(2)]);
    expect(find('.labdl-dashboard-next')).toBeNull();
    await source.emit([], false);
    expect(status()).toBe('lost');
    expect(find('.labdl-dashboard-status')?.textContent).toBe('Lost');
    const next = find('.labdl-dashboard-next');
    expect(next?.textContent).toContain('from its checkpoint of step 2');
    const code = 'run = trainer.start(data, resume="runs/a \\"b\\"/step-2")';
    expect(next?.querySelector('code')?.textContent).toBe(code);
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
    });
    expect(copied).toEqual([code]);
    expect(screen.queryByText(/checkpoint saved/)).toBeNull();
    await source.emit([{ kind: 'end', time: 3, status: 'failed' }], false);
    expect(find('[role="alert"] .labdl-dashboard-next code')).toBeTruthy();
    await source.emit([{ kind: 'end', time: 3, status: 'finished' }], false);
    expect(find('.labdl-dashboard-next')).toBeNull();
    await source.emit([{ kind: 'end', time: 3, status: 'stopped' }], false);
    expect(find('[role="status"] .labdl-dashboard-next code')).toBeTruthy();
  });

  it('says above the curves that a finished training is of no use', async () => {
    const { source, find } = show();
    const alert = (kind: 'plateau' | 'divergence', message: string) =>
      ({ kind: 'alert', time: 2, step: 2, alert: kind, level: 'error', message }) as const; // prettier-ignore
    const end = { kind: 'end', time: 3, status: 'finished' } as const;
    await source.emit([START, STEPS, alert('plateau', 'It stands.'), end]);
    expect(find('.labdl-dashboard-note')).toBeNull();
    const template = 'It grew to %1.';
    const grown = alert('divergence', 'It grew.');
    await source.emit([{ ...grown, template, values: ['2e23'] }]);
    expect(find('.labdl-dashboard-note')?.textContent).toBe(
      'Divergence: It grew to 2e23.'
    );
  });

  it('has the learning rate once', async () => {
    const { source, field, find } = show();
    const rate = { kind: 'rate', time: 1, step: [0], value: [0.25] } as const;
    await source.emit([START, rate, STEPS]);
    const shown = () => find('.labdl-dashboard')?.textContent?.split('0.25');
    const now = '[data-chart="Learning rate"] .labdl-chart-now';
    expect(field('learning_rate').placeholder).toBe('0.25');
    expect(find(now)).toBeNull();
    expect(find('.labdl-dashboard-facts')?.textContent).not.toContain('rate');
    await source.emit([{ kind: 'end', time: 3, status: 'finished' }], false);
    expect(find(now)?.textContent).toBe('0.25');
    expect(shown()?.length).toBeLessThanOrEqual(3); // and in the name of a picture of the chart
  });

  it('compares an epoch with epochs, and not with a smoothed step', async () => {
    const { source, find } = show();
    const epoch = (number: number, loss: number) =>
      ({ kind: 'epoch', time: 2, epoch: number, step: number * 2, loss, samples_per_second: 1 }) as const; // prettier-ignore
    const best = (loss: object, more = {}) =>
      ({ kind: 'best', time: 2, best: { loss, ...more } }) as RunEvent;
    await source.emit([
      START,
      STEPS,
      epoch(1, 0.75),
      epoch(2, 0.875),
      best({ value: 0.75, epoch: 1 })
    ]);
    const train = () =>
      find('.labdl-legend-entry[data-curve="train"]')?.textContent;
    expect(train()).toMatch(/last epoch 0\.8750 best 0\.7500 \(epoch 1\)$/);
    await source.emit([
      { ...epoch(3, 0.5), val_loss: 1 },
      best({ value: 0.5, epoch: 3 }, { val_loss: { value: 1, epoch: 3 } })
    ]);
    expect(train()).not.toContain('best');
    expect(find('[data-best="val_loss"]')?.textContent).toContain('best 1');
  });

  it('leads to the layer in which a run failed, if that is known', async () => {
    const source = new Source();
    const shown: string[] = [];
    render(
      <Dashboard
        source={source}
        trans={plainTranslator}
        onShow={layer => shown.push(layer)}
      />
    );
    const end = { kind: 'end', time: 2, status: 'failed' } as const;
    const message = 'the output of log has NaN';
    await source.emit([
      START,
      { ...end, message, place: { node: 'log', what: 'output' } }
    ]);
    fireEvent.click(screen.getByText('Show layer'));
    expect(shown).toEqual(['log']);
    await source.emit([
      START,
      { ...end, message, place: { node: null, what: 'loss' } }
    ]);
    expect(screen.getByRole('alert').textContent).toBe(message);
    await source.emit([START]);
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('makes one step of a run that rests, and waits for its answer', async () => {
    const { source, button } = show();
    await source.emit([{ ...START, version: 2 } as RunEvent, STEPS]);
    expect(button('step').disabled).toBe(true);
    await source.emit([{ kind: 'status', time: 2, status: 'paused', step: 2 }]);
    fireEvent.click(button('step'));
    await source.emit([{ kind: 'status', time: 3, status: 'paused', step: 3 }]);
    expect(button('step').getAttribute('aria-busy')).toBe('true');
    await source.emit([
      {
        kind: 'command',
        time: 3,
        id: source.ids[0] ?? '',
        command: 'step',
        step: 3,
        status: 'done'
      }
    ]);
    expect(button('step').disabled).toBe(false);
  });

  it('begins a branch with what was typed, and says why the run refuses it', async () => {
    const { source, button } = show();
    await source.emit([{ ...START, version: 2 } as RunEvent, STEPS]);
    fireEvent.click(button('branch'));
    const type = (label: string, value: string) =>
      fireEvent.change(
        within(screen.getByRole('dialog')).getByLabelText(label),
        {
          target: { value }
        }
      );
    expect(document.activeElement).toBe(
      within(screen.getByRole('dialog')).getByLabelText('Learning rate')
    );
    type('Learning rate', 'fast');
    fireEvent.click(screen.getByText('Start'));
    expect(screen.getByRole('alert').textContent).toBe(
      'The learning rate must be a number of at least 0.'
    );
    type('Learning rate', '0.01');
    type('Total epochs', '1');
    fireEvent.click(screen.getByText('Start'));
    expect(source.commands).toEqual([
      ['branch', { learning_rate: 0.01, epochs: 1 }]
    ]);
    expect(screen.queryByRole('dialog')).toBeNull();
    await source.emit([
      {
        kind: 'command',
        time: 3,
        id: source.ids[0] ?? '',
        command: 'branch',
        step: 2,
        status: 'refused',
        message: '2 of 1 epochs are done'
      }
    ]);
    expect(screen.getByText('2 of 1 epochs are done')).toBeTruthy();
    expect(button('branch').disabled).toBe(false);
    fireEvent.click(button('branch'));
    fireEvent.keyDown(screen.getByRole('dialog'), { key: 'Escape' });
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(document.activeElement).toBe(button('branch'));
  });

  it('sends again what was not answered as the same command', async () => {
    jest.useFakeTimers({ doNotFake: ['requestAnimationFrame'] });
    try {
      const { source, button } = show();
      await source.emit([{ ...START, version: 2 } as RunEvent, STEPS]);
      fireEvent.click(button('checkpoint'));
      await source.emit([]);
      expect(button('checkpoint').disabled).toBe(true);
      act(() => {
        jest.advanceTimersByTime(16_000);
      });
      await source.emit([]);
      expect(screen.getByText(/has not responded yet/)).toBeTruthy();
      fireEvent.click(button('checkpoint'));
      expect(source.ids).toHaveLength(2);
      expect(source.ids[1]).toBe(source.ids[0]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('tells what was done and seen, the best, and how the layers and the machine do', async () => {
    const { source, find } = show();
    await source.emit([
      { ...START, version: 2, environment: { cores: 4, memory: 8e9 } },
      STEPS,
      EPOCH,
      { kind: 'best', time: 2, best: { val_loss: { value: 0.75, epoch: 1 } } },
      { kind: 'learning_rate', time: 2, step: 2, value: 0.001 },
      {
        kind: 'pace',
        time: 2,
        step: 2,
        steps: 2,
        samples: 64,
        data: 0.002,
        compute: 0.01,
        update: null
      },
      {
        kind: 'system',
        time: 2,
        cpu: 200,
        memory: 1e9,
        cpu_total: 60,
        memory_used: 2e9,
        gpus: []
      },
      {
        kind: 'health',
        time: 2,
        step: 2,
        samples: 8,
        layers: ['a', 'b'],
        parameters: {
          of: [0, 1],
          gradient: [3, 4],
          weights: [1, 1],
          update: [0.01, 0.02]
        },
        outputs: {
          of: [1],
          mean: [0],
          std: [0],
          largest: [0],
          zeros: [1],
          not_finite: [0]
        }
      }
    ]);
    expect(
      screen.getByRole('list', { name: 'Marks on the curves' }).textContent
    ).toBe('step 2: learning rate set manually to 0.001');
    expect(find('[data-best="val_loss"]')?.textContent).toContain(
      'best 0.7500 (epoch 1)'
    );
    const tile = (name: string) =>
      find(`[data-tile="${name}"] dd`)?.textContent;
    expect(
      ['gradient', 'update', 'notFinite', 'zeros', 'cpu', 'memory'].map(tile)
    ).toEqual(['5', '2 %', '0', '100 %all zero', '50 %', '1 GB']);
    expect(find('[data-tile="zeros"]')?.getAttribute('data-state')).toBe(
      'dead'
    );
    const time = find('[data-chart="Step time"]');
    expect(time?.textContent).toContain('step');
    expect(time?.textContent).not.toContain('update');
    expect(
      find('[data-chart="Throughput"] .labdl-chart-now')?.textContent
    ).toBe('5,333 samples/s');
  });

  it('keeps how curves are shown', async () => {
    localStorage.clear();
    const first = show();
    await first.source.emit([START, STEPS]);
    fireEvent.change(screen.getByLabelText('Smoothing'), {
      target: { value: 'none' }
    });
    fireEvent.change(screen.getByLabelText('Axis'), {
      target: { value: 'time' }
    });
    expect(first.find('.labdl-metric[data-metric="loss"]')?.textContent).toBe(
      '0.2500'
    );
    cleanup();
    const second = show();
    await second.source.emit([START, STEPS]);
    const value = (label: string) =>
      (screen.getByLabelText(label) as HTMLSelectElement).value;
    expect([value('Smoothing'), value('Axis')]).toEqual(['none', 'time']);
    localStorage.clear();
  });

  it('leaves nothing behind', async () => {
    const { source } = show();
    await source.emit([START, STEPS]);
    cleanup();
    expect(source.listeners.size).toBe(0);
    expect(drawn.destroyed).toBe(drawn.created);
  });

  it('shows a second view what the first has heard, also when nobody tells it again', async () => {
    const { source } = show();
    await source.emit([START, STEPS]);
    cleanup();
    render(<Dashboard source={source} trans={plainTranslator} />);
    expect(source.listeners.size).toBe(1);
    expect(document.querySelector('[data-status=running]')).toBeTruthy();
    await source.emit([START, EPOCH]);
    expect(screen.getAllByText('0.7500').length).toBeGreaterThan(0);
  });
});
