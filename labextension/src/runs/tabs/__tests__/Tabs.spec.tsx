import { cleanup, fireEvent, screen } from '@testing-library/react';
import axe from 'axe-core';
import { TABS } from '..';
import type { RunEvent } from '../../store/source';
import { recordedEvents } from '../../store/__tests__/run-events';
import { pretendLayout, show } from '../../store/__tests__/showing';

// jsdom has no canvas: charts are tested in a browser
jest.mock('uplot', () => ({ __esModule: true, default: class {} }));
jest.mock('../../charts/PlotFrame', () => ({
  PlotFrame: ({ label }: { label: string }) => (
    <div role="img" aria-label={label} />
  )
}));

beforeAll(pretendLayout);
afterEach(cleanup);

const selected = () =>
  screen
    .getAllByRole('tab')
    .filter(tab => tab.getAttribute('aria-selected') === 'true')
    .map(tab => tab.dataset.tab);

it('begins with the overview, and remembers the tab that was opened last', () => {
  const first = show(recordedEvents());
  expect(selected()).toEqual(['overview']);
  expect(screen.getByText('The overview').parentElement?.hidden).toBe(false);
  fireEvent.click(screen.getByRole('tab', { name: 'Worst samples' }));
  expect(selected()).toEqual(['worst']);
  expect(screen.getByText('The overview').parentElement?.hidden).toBe(true);
  expect(localStorage.getItem('labdl:dashboard-tab')).toBe('worst');
  first.unmount();
  show(recordedEvents(), { tab: 'a tab of long ago' });
  expect(selected()).toEqual(['overview']);
});

it('is one stop for the keyboard, and arrows lead round', () => {
  show(recordedEvents());
  const stops = () =>
    screen.getAllByRole('tab').filter(tab => tab.tabIndex === 0);
  const press = (key: string) =>
    fireEvent.keyDown(screen.getByRole('tablist'), { key });
  expect(stops().map(tab => tab.dataset.tab)).toEqual(['overview']);
  press('ArrowRight');
  expect(selected()).toEqual(['layers']);
  expect(document.activeElement).toBe(stops()[0]);
  press('ArrowLeft');
  press('ArrowLeft');
  expect(selected()).toEqual(['log']);
  press('Home');
  expect(selected()).toEqual(['overview']);
  press('End');
  expect(selected()).toEqual(['log']);
  expect(stops().map(tab => tab.dataset.tab)).toEqual(['log']);
});

it('counts the alerts', () => {
  show(recordedEvents());
  expect(screen.getByRole('tab', { name: 'Alerts 1' })).toBeTruthy();
});

it.each(TABS.map(({ id }) => id))('says what is to come in “%s”', id => {
  const { container } = show([], { tab: id });
  const panel = container.querySelector(`[data-panel="${id}"]`);
  expect(panel?.textContent).toMatch(/^[A-Z].*appears? here/);
  expect(panel?.querySelector('table, ul, ol')).toBeNull();
});

it.each(TABS.map(({ id }) => id))(
  'has nothing to complain of for screen readers in “%s”',
  async id => {
    const { container } = show(recordedEvents(), { tab: id, onShow: () => {} });
    const { violations } = await axe.run(container, {
      rules: {
        'color-contrast': { enabled: false },
        region: { enabled: false }
      }
    });
    expect(
      violations.map(({ id: rule, nodes }) => [rule, nodes[0].html])
    ).toEqual([]);
  }
);

const WRONG: unknown[] = [
  null,
  'text',
  -1,
  1e308,
  [],
  {},
  [[null]],
  [{ picture: 1, index: 'a' }],
  { of: [0, 1e9, -1, 'x'], low: [{}], counts: [['a']] }
];

/** Kinds of events that each tab shows. */
const SHOWN: Record<string, RunEvent['kind'][]> = {
  layers: ['health', 'histograms'],
  predictions: ['samples', 'predictions'],
  confusion: ['samples', 'confusion'],
  worst: ['worst', 'samples'],
  text: ['text'],
  system: ['system', 'start'],
  settings: ['start'],
  alerts: ['alert'],
  log: ['start', 'epoch', 'status', 'command', 'alert', 'log', 'end']
};

it.each(TABS.map(({ id }) => id))(
  'shows “%s” whatever stands in the file',
  id => {
    const quiet = jest.spyOn(console, 'error').mockImplementation(() => {});
    const events = recordedEvents();
    const { container, tell } = show(events, { tab: id });
    let step = 1000;
    for (const kind of SHOWN[id]) {
      const event = events.find(each => each.kind === kind) ?? events[0];
      const keys = Object.keys(event).filter(key => !'kind step'.includes(key));
      for (const [key, wrong] of keys.flatMap(name =>
        WRONG.map(value => [name, value] as const)
      )) {
        const moved = kind === 'start' ? {} : { step: step++, time: step };
        tell({ ...event, ...moved, [key]: wrong } as RunEvent);
        const what = `${kind} with ${key} ${JSON.stringify(wrong)}`;
        expect([what, container.textContent]).toEqual([
          what,
          expect.not.stringContaining('could not be drawn')
        ]);
      }
    }
    quiet.mockRestore();
  }
);
