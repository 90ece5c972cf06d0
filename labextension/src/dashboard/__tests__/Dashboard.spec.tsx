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
  commands: RunCommand[] = [];
  failure: Error | null = null;

  subscribe(listener: RunListener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async command(name: RunCommand) {
    this.commands.push(name);
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
  steps_per_epoch: 2
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
    find(`[data-command="${name}"]`) as HTMLButtonElement;
  return {
    source,
    find,
    button,
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

  it('offers the commands that fit, and none while one waits for its answer', async () => {
    const { source, button } = show();
    const enabled = () =>
      (['pause', 'resume', 'stop'] as const).filter(
        name => !button(name).disabled
      );
    await source.emit([START, STEPS]);
    expect(enabled()).toEqual(['pause', 'stop']);
    fireEvent.click(button('pause'));
    await source.emit([]);
    expect(source.commands).toEqual(['pause']);
    expect(enabled()).toEqual([]);
    await source.emit([{ kind: 'status', time: 2, status: 'paused' }]);
    expect(enabled()).toEqual(['resume', 'stop']);
    await source.emit([{ kind: 'end', time: 3, status: 'stopped' }]);
    expect(enabled()).toEqual([]);
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

  it('leaves nothing behind', async () => {
    const { source } = show();
    await source.emit([START, STEPS]);
    cleanup();
    expect(source.listeners.size).toBe(0);
    expect(drawn.destroyed).toBe(drawn.created);
  });
});
