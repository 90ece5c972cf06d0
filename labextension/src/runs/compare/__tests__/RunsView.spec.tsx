import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  within
} from '@testing-library/react';
import { plainTranslator } from '../../../ui/translator';
import { RunsView } from '../RunsView';
import { brief, Folder } from './briefs';

// jsdom has no canvas: charts are tested in a browser.
jest.mock('uplot', () => ({ __esModule: true, default: class {} }));
jest.mock('../overlay-plot', () => ({
  OverlayPlot: class {
    fits = () => true;
    show() {}
    highlight() {}
    resize() {}
    recolor() {}
    destroy() {}
  }
}));

beforeAll(() => {
  // jsdom has no layout: a height makes the table render its rows
  Object.defineProperty(HTMLElement.prototype, 'clientHeight', { value: 600 });
  Object.defineProperty(HTMLElement.prototype, 'clientWidth', { value: 800 });
  global.ResizeObserver = class {
    constructor(private readonly told: ResizeObserverCallback) {}
    observe() {
      this.told(
        [{ contentRect: { width: 900, height: 600 } } as ResizeObserverEntry],
        this as unknown as ResizeObserver
      );
    }
    unobserve() {}
    disconnect() {}
  };
});
afterEach(() => {
  cleanup();
  localStorage.clear();
});

const rate = (path: string, learning_rate: number, loss: number, more = {}) =>
  brief(path, {
    settings: { learning_rate, seed: 0 },
    figures: { loss },
    best: { loss: { value: loss, epoch: 1 } },
    time: 1_795_000_000 + loss,
    ...more
  });
const RUNS = [
  rate('a', 0.1, 3, { backend: 'paddle', tags: ['wide'] }),
  rate('b', 0.01, 1, { status: 'failed', message: 'not finite' }),
  rate('c', 0.001, 2, { note: 'the good one' })
];

function show(folder = new Folder(RUNS)) {
  render(<RunsView source={folder} trans={plainTranslator} />);
  return folder;
}

const rows = () =>
  [...document.querySelectorAll<HTMLElement>('tr[data-row]')].map(
    row => row.dataset.row
  );
function row(path: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(`tr[data-row="${path}"]`);
  if (!found) {
    throw new Error(`There is no row ${path}.`);
  }
  return found;
}
const head = (name: string) =>
  screen.getByRole('button', { name: new RegExp(`^${name}`) });
const columns = () =>
  screen
    .getAllByRole('columnheader')
    .map(column => column.textContent?.replace(/[▲▼\d]/g, ''));

test('the best run comes first, and columns sort', () => {
  show();
  expect(rows()).toEqual(['b', 'c', 'a']);
  fireEvent.click(head('loss'));
  expect(rows()).toEqual(['b', 'c', 'a']);
  fireEvent.click(head('loss'));
  expect(rows()).toEqual(['a', 'c', 'b']);
  fireEvent.click(head('Backend'));
  fireEvent.click(head('learning_rate'), { shiftKey: true });
  expect(rows()).toEqual(['a', 'c', 'b']);
});

test('what is missing comes last in both directions', () => {
  show(new Folder([...RUNS, brief('none', { figures: { loss: null } })]));
  fireEvent.click(head('loss'));
  expect(rows()).toEqual(['b', 'c', 'a', 'none']);
  fireEvent.click(head('loss'));
  expect(rows()).toEqual(['a', 'c', 'b', 'none']);
});

test('settings that differ are columns, others when they are wanted', () => {
  show();
  expect(columns()).toContain('learning_rate');
  expect(columns()).not.toContain('seed');
  fireEvent.click(screen.getByLabelText('seed'));
  expect(columns()).toContain('seed');
  cleanup();
  show(); // stored by the browser
  expect(columns()).toContain('seed');
});

test('what differs comes first, and what is the same in all is left out until it is wanted', () => {
  show();
  const usual = ['', 'Status', 'Name', 'best loss', 'learning_rate', 'loss', 'Backend', 'Started', 'Tags', 'Notes']; // prettier-ignore
  expect(columns()).toEqual(usual);
  fireEvent.click(screen.getByRole('button', { name: /^Show \d+ constant columns$/ })); // prettier-ignore
  expect(columns()).toEqual(expect.arrayContaining([...usual, 'Model', 'Epoch', 'seed'])); // prettier-ignore
  expect(columns()?.slice(0, usual.length)).toEqual(usual);
  fireEvent.click(screen.getByRole('button', { name: /^Hide/ }));
  expect(columns()).toEqual(usual);
  cleanup();
  show(new Folder([RUNS[0]]));
  expect(columns()).toContain('Model'); // one run is not the same as others
  expect(screen.queryByRole('button', { name: /constant/ })).toBeNull();
});

test('the best is the highest where the metric or the sweep says so', () => {
  const scored = [0.2, 0.9, 0.5].map((accuracy, i) =>
    brief(`${i}`, {
      figures: { accuracy },
      best: { accuracy: { value: accuracy, epoch: 1 } }
    })
  );
  const group = { kind: 'sweep', metric: 'accuracy', mode: 'max' } as const;
  show(new Folder(scored, { group }));
  expect(rows()).toEqual(['1', '2', '0']);
  cleanup();
  show(new Folder(scored));
  expect(rows()).toEqual(['1', '2', '0']);
});

test('it says how many runs are drawn, and the person chooses', () => {
  const live = { status: 'running', alive: true } as const;
  const many = Array.from({ length: 23 }, (_, i) =>
    rate(`run-${i}`, 0.1, i, i === 22 ? live : {})
  );
  show(new Folder(many));
  const drawn = () => [...document.querySelectorAll('.labdl-overlay-legend button')].map(b => b.textContent); // prettier-ignore
  expect(screen.getByText('5 of 23 runs drawn')).toBeTruthy();
  expect(drawn()).toEqual(['run-0', 'run-1', 'run-2', 'run-3', 'run-22']);
  fireEvent.change(screen.getByLabelText('Draw'), { target: { value: '10' } });
  expect(screen.getByText('10 of 23 runs drawn')).toBeTruthy();
  expect(drawn()).toHaveLength(10);
  fireEvent.click(screen.getByLabelText('Compare run-0'));
  expect(screen.getByText('9 of 23 runs drawn')).toBeTruthy();
  expect(screen.getByLabelText<HTMLSelectElement>('Draw').value).toBe(
    'selected'
  );
});

test('words and facets filter', () => {
  show();
  fireEvent.change(screen.getByLabelText('Filter runs'), {
    target: { value: 'GOOD one' }
  });
  expect(rows()).toEqual(['c']);
  fireEvent.click(screen.getByText('Show all'));
  fireEvent.click(
    screen.getByRole('checkbox', { name: /^Failed/, hidden: true })
  );
  expect(rows()).toEqual(['b']);
  expect(screen.getByText(/1 of 3 runs/)).toBeTruthy();
});

test('runs are grouped, and groups folded', () => {
  show();
  fireEvent.change(screen.getByLabelText('Group by'), {
    target: { value: 'backend' }
  });
  expect(rows()).toHaveLength(5);
  fireEvent.click(screen.getByRole('button', { name: /torch 2 runs/ }));
  expect(rows()).toHaveLength(3);
  expect(rows()).toContain('a');
});

test('keys move, choose, open, and ask before a run is deleted', async () => {
  const folder = show();
  act(() => row('b').focus());
  fireEvent.keyDown(row('b'), { key: 'ArrowDown' });
  expect(document.activeElement).toBe(row('c'));
  fireEvent.keyDown(row('c'), { key: ' ' });
  expect(row('c').getAttribute('aria-selected')).toBe('false');
  fireEvent.keyDown(row('c'), { key: 'Enter' });
  expect(folder.opened).toEqual(['c']);
  fireEvent.keyDown(row('c'), { key: 'Delete' });
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(folder.removed).toEqual([]);
  fireEvent.keyDown(row('c'), { key: 'Delete' });
  await act(async () => {
    fireEvent.click(screen.getByRole('button', { name: 'Delete' }));
  });
  expect(folder.removed).toEqual(['c']);
});

test('a run under way cannot be deleted', () => {
  show(new Folder([brief('live', { alive: true, status: 'running' })]));
  expect(
    screen.getByRole<HTMLButtonElement>('button', { name: 'Delete live' })
      .disabled
  ).toBe(true);
  act(() => row('live').focus());
  fireEvent.keyDown(row('live'), { key: 'Delete' });
  expect(screen.queryByRole('alertdialog')).toBeNull();
});

test('tags are edited in place', async () => {
  const folder = show();
  fireEvent.click(screen.getByRole('button', { name: 'Tags: wide' }));
  const field = screen.getByRole('textbox', { name: 'Tags' });
  fireEvent.change(field, { target: { value: 'wide, slow,, wide' } });
  await act(async () => {
    fireEvent.keyDown(field, { key: 'Enter' });
  });
  expect(folder.written).toEqual([
    ['a', { tags: ['wide', 'slow'] }, { tags: ['wide'] }]
  ]);
  expect(screen.queryByRole('textbox', { name: 'Tags' })).toBeNull();
});

test('what another has written meanwhile is shown and not lost', async () => {
  const folder = show();
  folder.other = { name: '', tags: [], note: 'theirs' };
  fireEvent.click(screen.getByRole('button', { name: 'Notes: the good one' }));
  const field = screen.getByRole('textbox', { name: 'Notes' });
  fireEvent.change(field, { target: { value: 'mine' } });
  await act(async () => {
    fireEvent.keyDown(field, { key: 'Enter' });
  });
  expect(screen.getByRole('alert').textContent).toContain('“theirs”');
  folder.other = null;
  await act(async () => {
    fireEvent.keyDown(field, { key: 'Enter' });
  });
  expect(folder.written[1]).toEqual([
    'c',
    { note: 'mine' },
    { note: 'theirs' }
  ]);
});

test('a run that comes later is there, and moves', () => {
  const folder = show();
  act(() => folder.tell([...RUNS, brief('new', { time: 1_796_000_000, status: 'running', alive: true })])); // prettier-ignore
  expect(rows()[0]).toBe('new');
  expect(within(row('new')).getByText('Running')).toBeTruthy();
});

test('the settings of chosen runs are compared', () => {
  show();
  fireEvent.click(screen.getByRole('tab', { name: 'Settings' }));
  const table = within(screen.getByRole('tabpanel'));
  const cells = table
    .getByRole('rowheader', { name: 'learning_rate' })
    .parentElement?.querySelectorAll('td');
  expect([...(cells ?? [])].map(cell => cell.textContent)).toEqual(['0.01', '0.001', '0.1']); // prettier-ignore
  expect(table.getByText('3 identical settings')).toBeTruthy();
});

test('a range on an axis filters the table', () => {
  show();
  fireEvent.click(screen.getByRole('tab', { name: 'Parallel coordinates' }));
  const axis = screen.getByLabelText(/^learning_rate\./);
  for (let i = 0; i < 11; i++) {
    fireEvent.keyDown(axis, { key: 'ArrowDown' });
  }
  expect(rows()).toEqual(['c']);
  expect(document.querySelectorAll('.labdl-parallel-lines path')).toHaveLength(
    1
  );
  fireEvent.keyDown(axis, { key: 'Escape' });
  expect(rows()).toHaveLength(3);
});

test('a folder without runs says how one is started', () => {
  show(new Folder([]));
  expect(screen.getByText('No training runs yet')).toBeTruthy();
  expect(document.querySelector('code')?.textContent).toContain(
    'trainer.start('
  );
});

test('a race or sweep without runs is starting, unless it has ended', () => {
  show(new Folder([], { group: { kind: 'race', name: 'race' } }));
  expect(screen.getByText('The race is starting its backends…')).toBeTruthy();
  expect(screen.queryByText('No training runs yet')).toBeNull();
  cleanup();
  show(new Folder([], { group: { kind: 'sweep' } }));
  expect(
    screen.getByText('The sweep is starting its first trial…')
  ).toBeTruthy();
  cleanup();
  show(new Folder([], { group: { kind: 'sweep', status: 'failed' } }));
  expect(screen.getByText('No training runs yet')).toBeTruthy();
});

test('a race has its leaderboard, and is stopped as a whole', async () => {
  const folder = new Folder(
    ['torch', 'paddle'].map(backend =>
      brief(backend, { backend, alive: true, status: 'running', group: 'race' })
    ),
    { group: { kind: 'race', name: 'race' } }
  );
  jest.useFakeTimers();
  show(folder);
  const steps = (loss: number[]) => [
    { kind: 'start', time: 0, steps_per_epoch: 2 } as const,
    { kind: 'steps', time: 1, step: [1, 2], loss } as const,
    { kind: 'pace', time: 1, step: 2, steps: 2, samples: 64, data: 0.1, compute: 0.4, update: null } as const // prettier-ignore
  ];
  act(() => {
    folder.emit('torch', steps([0.5, 0.25]));
    folder.emit('paddle', steps([0.5, 0.125]));
    jest.runAllTimers();
  });
  jest.useRealTimers();
  const leaderboard = within(
    screen.getByRole('table', { name: 'Leaderboard' })
  );
  expect(leaderboard.getAllByRole('row').map(r => r.textContent)).toEqual([
    expect.stringContaining('Largest difference'),
    expect.stringMatching(/paddle.*reference.*128/),
    expect.stringMatching(/torch.*0\.1250.*128/)
  ]);
  // a backend has one line style, in the leaderboard and in the table below
  const styleIn = (table: HTMLElement, backend: string) => {
    const row = within(table).getAllByText(backend)[0].closest('tr');
    const line = row?.querySelector<SVGElement>('.labdl-swatch path');
    return [line?.style.stroke, line?.getAttribute('stroke-dasharray')];
  };
  const board = screen.getByRole('table', { name: 'Leaderboard' });
  const runs = screen.getByRole('grid', { name: 'Training runs' });
  expect(styleIn(board, 'torch')[0]).toMatch(/--labdl-run-/);
  for (const backend of ['torch', 'paddle']) {
    expect(styleIn(runs, backend)).toEqual(styleIn(board, backend));
  }
  await act(async () => {
    fireEvent.click(screen.getByRole('button', { name: 'Stop all' }));
  });
  expect(folder.commands).toEqual([
    ['paddle', 'stop'],
    ['torch', 'stop']
  ]);
});

test('a sweep says which trial is best, and is stopped as a whole', async () => {
  const trial = (path: string, units: number, loss: number) =>
    brief(path, {
      params: { units },
      best: { val_loss: { value: loss, epoch: 2 } }
    });
  const folder = new Folder(
    [trial('one', 16, 0.4), { ...trial('two', 32, 0.2), alive: true }],
    {
      group: { kind: 'sweep', name: 's', metric: 'val_loss', mode: 'min', trials: 5 } // prettier-ignore
    }
  );
  show(folder);
  const best = screen.getByText('Best trial').parentElement;
  expect(best?.textContent).toMatch(/two.*0\.2000.*units 32/);
  expect(screen.getByText(/2 of 5 trials/)).toBeTruthy();
  await act(async () => {
    fireEvent.click(screen.getByRole('button', { name: 'Stop all' }));
  });
  expect(folder.commands).toEqual([['.', 'stop']]);
});
