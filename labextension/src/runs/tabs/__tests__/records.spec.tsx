import { cleanup, fireEvent, screen } from '@testing-library/react';
import type { PlotFrameProps } from '../../charts/PlotFrame';
import type { RunEvent } from '../../store/source';
import { recordedEvents, START, TIME } from '../../store/__tests__/run-events';
import { pretendLayout, show } from '../../store/__tests__/showing';

const drawn: PlotFrameProps[] = [];

// jsdom has no canvas: charts are tested in a browser
jest.mock('uplot', () => ({ __esModule: true, default: class {} }));
jest.mock('../../charts/PlotFrame', () => ({
  PlotFrame: (props: PlotFrameProps) => {
    drawn.push(props);
    return <div role="img" aria-label={props.label} />;
  }
}));

beforeAll(pretendLayout);
afterEach(cleanup);

const copied: string[] = [];
beforeEach(() => {
  copied.length = 0;
  Object.assign(navigator, {
    clipboard: { writeText: async (text: string) => copied.push(text) }
  });
});

const facts = () =>
  Object.fromEntries(
    [...document.querySelectorAll('.labdl-facts > div')].map(each => [
      each.querySelector('dt')?.textContent,
      each.querySelector('dd')?.textContent
    ])
  );

describe('Settings and code', () => {
  const code = async () => ({
    'model.py': 'model = nn.Linear(10)',
    'settings.json': '{}',
    'error.txt': 'Traceback'
  });

  it('shows settings, origin and files', async () => {
    show(recordedEvents(), { tab: 'settings', code });
    expect(facts()).toMatchObject({
      learning_rate: '0.003',
      clip: '–',
      width: '64',
      Group: 'widths',
      'Branched from': 'first-run, after step 90 (../first-run)',
      'Training samples': '1,437'
    });
    expect(await screen.findByText('model = nn.Linear(10)')).toBeTruthy();
    expect(screen.queryByText('error.txt')).toBeNull();
    fireEvent.click(screen.getByText('Copy as JSON'));
    await screen.findByText('Copied');
    expect(JSON.parse(copied[0])).toEqual({
      learning_rate: 0.003,
      seed: 0,
      clip: null,
      width: 64
    });
  });

  it('says why there is no code', async () => {
    show(recordedEvents(), { tab: 'settings' });
    expect(screen.getByText(/Open the run from the file browser/)).toBeTruthy();
    cleanup();
    show(recordedEvents(), { tab: 'settings', code: async () => ({}) });
    expect(await screen.findByText(/of this run has no code/)).toBeTruthy();
    cleanup();
    show(recordedEvents(), {
      tab: 'settings',
      code: () => Promise.reject(new Error('no such folder'))
    });
    expect(
      await screen.findByText('The code could not be read: no such folder')
    ).toBeTruthy();
  });
});

describe('Alerts', () => {
  it('says what was seen, the latest first, and leads to the step', () => {
    const steps: number[] = [];
    const { tell } = show(recordedEvents(), {
      tab: 'alerts',
      onStep: step => steps.push(step)
    });
    tell({
      kind: 'alert',
      time: TIME + 20,
      step: 200,
      alert: 'not_finite',
      level: 'error',
      message: 'The loss is NaN.'
    });
    const heads = [...document.querySelectorAll('.labdl-alert strong')];
    expect(heads.map(each => each.textContent)).toEqual([
      'Not finite',
      'Overfitting'
    ]);
    fireEvent.click(screen.getAllByText('Show on the curves')[1]);
    expect(steps).toEqual([120]);
    expect(
      screen
        .getByRole('tab', { name: 'Overview' })
        .getAttribute('aria-selected')
    ).toBe('true');
  });
});

describe('Text', () => {
  const shown = () => document.querySelector('.labdl-text')?.textContent;

  it('shows the latest text of a name, and earlier ones', () => {
    const steps: number[] = [];
    show(recordedEvents(), { tab: 'text', onStep: step => steps.push(step) });
    expect(shown()).toBe('The lady doth protest');
    const slider = screen.getByLabelText('Point in the training');
    fireEvent.change(slider, { target: { value: '0' } });
    expect(shown()).toBe('To be, or not to be');
    fireEvent.click(screen.getByText('Show on the curves'));
    expect(steps).toEqual([110]);
  });

  it('shows another name', () => {
    show(recordedEvents(), { tab: 'text' });
    fireEvent.change(screen.getByLabelText('Name'), {
      target: { value: 'notes' }
    });
    expect(shown()).toBe('Second layer frozen');
  });

  it('says how to log a text', () => {
    show([], { tab: 'text' });
    expect(screen.getByText(/trainer\.log_text/)).toBeTruthy();
  });
});

describe('Log', () => {
  const lines = () =>
    [...document.querySelectorAll('.labdl-log-line')].map(line => [
      line.querySelector('.labdl-level')?.textContent,
      line.querySelector('.labdl-log-words')?.textContent
    ]);

  it('tells what has happened in words, and filters by level', () => {
    show(recordedEvents(), { tab: 'log' });
    expect(lines()).toContainEqual(['Info', 'digits starts with torch']);
    expect(lines()).toContainEqual([
      'Info',
      'Epoch 2: loss 0.5000 · val_loss 0.5500'
    ]);
    expect(lines()).toContainEqual([
      'Warning',
      'Command refused: Learning rate (-1). The learning rate must be at least 0.'
    ]);
    fireEvent.change(screen.getByLabelText('Show'), {
      target: { value: 'warning' }
    });
    expect(lines().map(([level]) => level)).toEqual(Array(3).fill('Warning'));
    fireEvent.change(screen.getByLabelText('Show'), {
      target: { value: 'error' }
    });
    expect(screen.getByText('No messages of this level.')).toBeTruthy();
  });

  it('says how much it no longer has, and copies what is shown', async () => {
    const many: RunEvent[] = Array.from({ length: 5000 }, (_, i) => ({
      kind: 'log',
      time: TIME + i,
      level: i < 4950 ? 'DEBUG' : 'INFO',
      source: 'labdl',
      message: `line ${i}`
    }));
    show([START, ...many], { tab: 'log' });
    expect(
      screen.getByText('3,001 earlier lines are in the run’s folder.')
    ).toBeTruthy();
    expect(lines()).toHaveLength(50);
    fireEvent.click(screen.getByText('Copy all'));
    await screen.findByText('Copied');
    const all = copied[0].split('\n');
    expect(all).toHaveLength(50);
    expect(all[49]).toMatch(/Info {2}labdl: line 4999$/);
  });

  it('shows the traceback of a failure', async () => {
    const failed: RunEvent = {
      kind: 'end',
      time: TIME + 1,
      status: 'failed',
      message: 'ValueError: too wide'
    };
    show([START, failed], {
      tab: 'log',
      code: async () => ({ 'error.txt': 'Traceback (most recent call last)' })
    });
    expect(lines()[1]).toEqual(['Error', 'Failed: ValueError: too wide']);
    expect(
      await screen.findByText('Traceback (most recent call last)')
    ).toBeTruthy();
  });
});

describe('System', () => {
  it('shows what is needed of the computer, and which it is', () => {
    drawn.length = 0;
    show(recordedEvents(), { tab: 'system' });
    const titles = [...document.querySelectorAll('[data-chart]')].map(each =>
      each.getAttribute('data-chart')
    );
    expect(titles).toEqual(['Processor', 'Memory', 'GPU 0', 'Memory of GPU 0']);
    const [seconds, run] = drawn[0].content.columns([0, 20], 500);
    expect([seconds[0], seconds[17]]).toEqual([1, 18]);
    // 8 cores: in percent of all of them
    expect(run[0]).toBeCloseTo((320 + 40 * Math.sin(10)) / 8);
    expect(facts()).toMatchObject({
      Computer: 'workstation',
      'GPU 0': 'NVIDIA H100, 80 GB',
      Python: '3.12.3',
      Framework: 'torch 2.8.0'
    });
  });
});
