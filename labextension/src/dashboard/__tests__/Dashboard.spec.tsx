import {
  act,
  cleanup,
  fireEvent,
  render,
  screen
} from '@testing-library/react';
import { plainTranslator } from '../../editor/translator';
import { Dashboard } from '../Dashboard';
import type { RunCommand, RunEvent, RunListener, RunSource } from '../source';

const drawn = { created: 0, destroyed: 0 };

// jsdom draws nothing: what the charts show is tested in a browser.
jest.mock('../plot', () => ({
  ...jest.requireActual('../plot'),
  Plot: class {
    constructor() {
      drawn.created++;
    }
    show() {}
    setWindow() {}
    leaveCursor() {}
    resize() {}
    recolour() {}
    destroy() {
      drawn.destroyed++;
    }
  }
}));
jest.mock('uplot', () => ({ __esModule: true, default: class {} }));

class Source implements RunSource {
  listeners = new Set<RunListener>();
  commands: (RunCommand | [RunCommand, number])[] = [];
  failure: Error | null = null;

  subscribe(listener: RunListener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async command(name: RunCommand, value?: number) {
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
    expect(find('.labdl-dashboard-fact[title^="Set"]')?.getAttribute('title')).toBe(
      'Set by hand after step 3'
    );
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
    ['learning_rate', 'fast', 'The learning rate must be a number at least 0.'],
    ['learning_rate', '-1', 'The learning rate must be a number at least 0.'],
    [
      'learning_rate',
      '1e999',
      'The learning rate must be a number at least 0.'
    ],
    ['add_epochs', '0', 'Epochs to add must be a whole number at least 1.'],
    ['add_epochs', '1.5', 'Epochs to add must be a whole number at least 1.']
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
    expect(screen.getByText('The process of this run has ended')).toBeTruthy();
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
    fireEvent.click(screen.getByText('Show where'));
    expect(shown).toEqual(['log']);
    await source.emit([
      START,
      { ...end, message, place: { node: null, what: 'loss' } }
    ]);
    expect(screen.getByRole('alert').textContent).toBe(message);
    await source.emit([START]);
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('leaves nothing behind', async () => {
    const { source } = show();
    await source.emit([START, STEPS]);
    cleanup();
    expect(source.listeners.size).toBe(0);
    expect(drawn.destroyed).toBe(drawn.created);
  });
});
