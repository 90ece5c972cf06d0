// The view of a data set: samples, statistics, transforms and their use in training.

import {
  act,
  fireEvent,
  render,
  screen,
  waitFor,
  within
} from '@testing-library/react';
import axe from 'axe-core';

import { plainTranslator } from '../../ui/translator';
import { DataView } from '../DataView';
import type { ChosenModel, DataHost } from '../host';
import { MockHost, sample } from './mock-host';

beforeAll(() => {
  window.ResizeObserver = class {
    constructor(private readonly hear: ResizeObserverCallback) {}
    observe(target: Element) {
      const size = { width: 600, height: 400 };
      const box = [{ inlineSize: 600, blockSize: 400 }];
      this.hear(
        [
          { target, contentRect: size, borderBoxSize: box }
        ] as unknown as ResizeObserverEntry[],
        this as unknown as ResizeObserver
      );
    }
    unobserve() {}
    disconnect() {}
  } as unknown as typeof ResizeObserver;
  Object.defineProperty(HTMLElement.prototype, 'clientHeight', { value: 400 });
  Object.defineProperty(HTMLElement.prototype, 'clientWidth', { value: 600 });
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
});

async function show(host = new MockHost()) {
  const view = render(<DataView host={host} trans={plainTranslator} />);
  await screen.findByText('pets');
  return { host, view };
}

async function openTransforms(host = new MockHost()) {
  const shown = await show(host);
  fireEvent.click(screen.getByRole('tab', { name: /Transforms/ }));
  await waitFor(() => expect(shown.host.previews.length).toBeGreaterThan(0));
  return shown;
}

async function add(text: string) {
  fireEvent.click(
    await screen.findByRole('button', { name: 'Add a transform' })
  );
  const field = screen.getByRole('combobox', { name: 'Search transforms' });
  fireEvent.change(field, { target: { value: text } });
  fireEvent.keyDown(field, { key: 'Enter' });
}

const lastPreview = (host: MockHost) => host.previews[host.previews.length - 1];
const stepNames = () =>
  screen
    .queryAllByRole('treeitem')
    .map(item => item.querySelector('b')?.textContent)
    .filter(Boolean);

it('shows samples with their boxes, and a large view', async () => {
  await show();
  const tile = await screen.findByRole('button', { name: 'cat/0.png: cat' });
  expect(tile.querySelectorAll('rect')).toHaveLength(2);
  fireEvent.click(tile);
  const dialog = screen.getByRole('dialog');
  await within(dialog).findByText('cat/0.png');
  expect(dialog).toHaveProperty('open', true);
  fireEvent.keyDown(dialog, { key: 'ArrowRight' });
  await within(dialog).findByText('dog/1.png');
  fireEvent.click(within(dialog).getByRole('button', { name: 'Close' }));
  expect(screen.queryByRole('dialog')).toBeNull();
});

it('moves the focus among the samples by keys', async () => {
  await show();
  const first = await screen.findByRole('button', { name: 'cat/0.png: cat' });
  first.focus();
  fireEvent.keyDown(first, { key: 'ArrowRight' });
  expect(document.activeElement?.getAttribute('data-tile')).toBe('1');
});

it('says what an empty data set needs, and why one cannot be opened', async () => {
  const host = new MockHost();
  host.summaryOf = { samples: 0, classes: null };
  const { view } = await show(host);
  screen.getByText(/has no samples/);
  view.unmount();
  const broken = new MockHost();
  broken.summary = () => Promise.reject(new Error('there is no such folder'));
  render(<DataView host={broken} trans={plainTranslator} />);
  await screen.findByText('there is no such folder');
  broken.summary = () => new MockHost().summary();
  fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
  await screen.findByText('pets');
});

it('asks for statistics until they are complete', async () => {
  await show();
  fireEvent.click(screen.getByRole('tab', { name: 'Statistics' }));
  await screen.findByText('40 of 100 samples read');
  await screen.findByText('100 samples read', {}, { timeout: 3000 });
  screen.getByRole('img', {
    name: 'width from 0 to 20 px; most often 10 to 20 px: 70 samples'
  });
  screen.getByText('it is empty');
  const axeResult = await axe.run(document.body, {
    rules: { 'color-contrast': { enabled: false }, region: { enabled: false } }
  });
  expect(axeResult.violations.map(({ id }) => id)).toEqual([]);
  fireEvent.click(screen.getByRole('button', { name: /^cat/ }));
  expect(screen.getByLabelText('Class')).toHaveProperty('value', '=cat');
});

it('shows broken files in the file browser, or copies their paths', async () => {
  const host: MockHost & Pick<DataHost, 'showFile'> = new MockHost();
  const openedPaths: string[] = [];
  host.showFile = async path => {
    openedPaths.push(path);
    if (openedPaths.length > 1) {
      throw new Error('pets/dog/3.png is not there any more.');
    }
  };
  const { view } = await show(host);
  fireEvent.click(screen.getByRole('tab', { name: 'Statistics' }));
  const file = await screen.findByRole('button', { name: /^dog\/ ?3.png$/ });
  expect(file.title).toContain('pets/dog/3.png');
  screen.getByText('and 100 more');
  fireEvent.click(file);
  expect(openedPaths).toEqual(['pets/dog/3.png']);
  fireEvent.click(file);
  expect((await screen.findByRole('alert')).textContent).toMatch(/not there/);
  view.unmount();

  const copied: string[] = [];
  Object.assign(navigator, {
    clipboard: { writeText: async (text: string) => copied.push(text) }
  });
  await show();
  fireEvent.click(screen.getByRole('tab', { name: 'Statistics' }));
  const copy = await screen.findByRole('button', {
    name: 'Copy the path: pets/dog/3.png'
  });
  fireEvent.click(copy);
  await screen.findByText('Copied');
  expect(copied).toEqual(['pets/dog/3.png']);
});

it('translates the sentences of Python that the catalog has', async () => {
  const host = new MockHost();
  host.samples = async () => ({
    samples: ['late', '%1 of late', 'other'].map((problem, i) => ({
      ...sample(i),
      parts: [],
      problem
    })),
    total: 3
  });
  const trans = {
    ...plainTranslator,
    __: (text: string, ...args: unknown[]) =>
      text === 'late' ? 'zu spät' : plainTranslator.__(text, ...args)
  };
  render(<DataView host={host} trans={trans} />);
  await screen.findByText('zu spät');
  screen.getByText('%1 of late');
  screen.getByText('other');
});

it('adds steps with initial settings; random ones are for training', async () => {
  const { host } = await openTransforms();
  await add('resize');
  await add('flip');
  expect(stepNames()).toEqual(['Resize', 'HorizontalFlip']);
  await waitFor(() => expect(lastPreview(host).step).toBe(2));
  expect(lastPreview(host).pipeline.steps).toEqual([
    { type: 'Resize', settings: { size: 32 }, phase: 'always' },
    { type: 'HorizontalFlip', settings: {}, phase: 'training' }
  ]);
});

it('shows the sample after the selected step, with its settings', async () => {
  const { host } = await openTransforms();
  await add('resize');
  await add('flip');
  fireEvent.click(screen.getByRole('treeitem', { name: /^1, Resize/ }));
  await waitFor(() => expect(lastPreview(host).step).toBe(1));
  fireEvent.change(screen.getByLabelText('Size'), { target: { value: '8' } });
  await waitFor(() =>
    expect(lastPreview(host).pipeline.steps[0].settings).toEqual({ size: 8 })
  );
  fireEvent.click(screen.getByRole('button', { name: 'Again' }));
  await waitFor(() => expect(lastPreview(host).seed).toBe(1));
  const { index } = lastPreview(host);
  fireEvent.click(screen.getByRole('button', { name: 'Another sample' }));
  await waitFor(() => expect(lastPreview(host).index).not.toBe(index));
});

it('moves, removes and restores steps by keys', async () => {
  await openTransforms();
  await add('resize');
  await add('flip');
  const flip = screen.getByRole('treeitem', { name: /^2, HorizontalFlip/ });
  fireEvent.keyDown(flip, { key: 'ArrowUp', altKey: true });
  expect(stepNames()).toEqual(['HorizontalFlip', 'Resize']);
  screen.getByText('HorizontalFlip is step 1');
  fireEvent.keyDown(
    screen.getByRole('treeitem', { name: /^1, HorizontalFlip/ }),
    { key: 'Delete' }
  );
  expect(stepNames()).toEqual(['Resize']);
  fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
  expect(stepNames()).toEqual(['HorizontalFlip', 'Resize']);
});

it('keeps what is not saved, and saves it', async () => {
  const { host } = await openTransforms();
  await add('flip');
  expect(host.kept[host.kept.length - 1]?.steps).toHaveLength(1);
  fireEvent.click(screen.getByRole('button', { name: 'Save' }));
  await screen.findByRole('button', { name: 'Saved' });
  expect(host.saved).toHaveLength(1);
  expect(host.kept[host.kept.length - 1]).toBeNull();
});

it.each<[string, (() => Promise<ChosenModel | null>) | undefined, RegExp]>([
  ['a model', async () => ({ name: 'net.labdl' }), /net\.labdl trains/],
  ['no model', async () => null, /No model is open/],
  ['a host without training', undefined, /This code trains/]
])('is used in training with %s', async (_, train, words) => {
  const host: MockHost & { train?: typeof train } = new MockHost();
  host.train = train;
  await show(host);
  fireEvent.click(screen.getByRole('button', { name: 'Use in training' }));
  const used = await screen.findByRole('region', { name: 'Use in training' });
  expect(used.textContent).toMatch(words);
  expect(used.textContent).toContain('3 × 32 × 32');
  expect(used.querySelector('pre') !== null).toBe(
    !words.source.startsWith('net')
  );
});

it('says why the steps cannot be saved', async () => {
  const host = new MockHost();
  host.save = () => Promise.reject(new Error('the folder is read-only'));
  await show(host);
  await act(async () =>
    fireEvent.click(screen.getByRole('button', { name: 'Use in training' }))
  );
  screen.getByText('the folder is read-only');
});

describe('a data set with parts', () => {
  const splits = [
    { name: 'training' as const, samples: 100 },
    { name: 'validation' as const, samples: 20 },
    { name: 'test' as const, samples: 7 }
  ];

  /** Its test part has no labels. */
  function withParts(): MockHost {
    const host = new MockHost();
    const part = (name: string, samples: number, more = {}) => {
      const own = new MockHost();
      own.summaryOf = { name, splits, split: name, samples, ...more };
      own.samples = async ({ start, count }) => ({
        samples: Array.from({ length: count }, (_, i) => ({
          ...sample(start + i),
          name: `${name}/${start + i}.png`
        })),
        total: samples
      });
      return own;
    };
    host.summaryOf = { splits, split: 'training' };
    host.splits.set('validation', part('validation', 20));
    host.splits.set('test', part('test', 7, { classes: null }));
    return host;
  }
  const choose = (name: RegExp) =>
    fireEvent.click(
      within(
        screen.getByRole('radiogroup', { name: 'Part of the data set' })
      ).getByRole('radio', { name })
    );

  it('shows the chosen part, of the same class', async () => {
    const { view } = await show(withParts());
    expect(screen.getByRole('radio', { name: 'Training 100' })).toHaveProperty(
      'checked',
      true
    );
    await screen.findByRole('button', { name: 'cat/0.png: cat' });
    fireEvent.change(screen.getByLabelText('Class'), {
      target: { value: '=dog' }
    });
    choose(/^Validation 20/);
    await screen.findByRole('button', { name: /^validation\/0\.png/ });
    expect(screen.getByLabelText('Class')).toHaveProperty('value', '=dog');
    expect(screen.queryByRole('button', { name: /^cat\/0/ })).toBeNull();
    choose(/^Test 7/);
    await screen.findByRole('button', { name: /^test\/0\.png/ });
    expect(screen.queryByLabelText('Class')).toBeNull();
    const { violations } = await axe.run(view.container);
    expect(violations.map(({ id }) => id)).toEqual([]);
  });

  it('begins with the part that was kept, if it is still there', async () => {
    const host: MockHost & Pick<DataHost, 'keptSplit' | 'keepSplit'> =
      withParts();
    const splits: string[] = [];
    host.keptSplit = () => 'validation';
    host.keepSplit = split => splits.push(split);
    const { unmount } = render(
      <DataView host={host} trans={plainTranslator} />
    );
    await screen.findByRole('button', { name: /^validation\/0\.png/ });
    expect(screen.getByRole('radio', { name: 'Validation 20' })).toHaveProperty(
      'checked',
      true
    );
    choose(/^Test/);
    expect(splits).toEqual(['test']);
    unmount();
    const gone = new MockHost();
    gone.summary = () => Promise.reject(new Error('it has no parts'));
    host.splits.set('validation', gone);
    render(<DataView host={host} trans={plainTranslator} />);
    await screen.findByRole('button', { name: 'cat/0.png: cat' });
    expect(screen.queryByText('it has no parts')).toBeNull();
    expect(screen.getByRole('radio', { name: 'Training 100' })).toHaveProperty(
      'checked',
      true
    );
  });

  it('has a list for many parts', async () => {
    const host = new MockHost();
    const folds = [1, 2, 3, 4, 5].map(i => ({ name: `fold ${i}`, samples: i }));
    host.summaryOf = { splits: folds, split: 'fold 1' };
    const own = new MockHost();
    own.summaryOf = { ...host.summaryOf, split: 'fold 2', name: 'second' };
    host.splits.set('fold 2', own);
    await show(host);
    const list = screen.getByRole('combobox', { name: 'Part of the data set' });
    expect(list).toHaveProperty('value', 'fold 1');
    fireEvent.change(list, { target: { value: 'fold 2' } });
    await screen.findByText('second');
  });

  it('keeps the steps, and previews them on the part in view', async () => {
    const host = withParts();
    await openTransforms(host);
    await add('flip');
    choose(/^Validation/);
    const validation = host.splits.get('validation') as MockHost;
    await waitFor(() => expect(validation.previews.length).toBeGreaterThan(0));
    expect(stepNames()).toEqual(['HorizontalFlip']);
    expect(lastPreview(validation).pipeline.steps).toHaveLength(1);
    expect(lastPreview(validation).index).toBe(0);
    screen.getByText(/its own validation part/);
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByRole('button', { name: 'Saved' });
    expect(host.saved).toHaveLength(1);
  });

  it('is used in training with all parts', async () => {
    await show(withParts());
    fireEvent.click(screen.getByRole('button', { name: 'Use in training' }));
    const used = await screen.findByRole('region', { name: 'Use in training' });
    expect(used.textContent).toContain('Training 100, Validation 20, Test 7');
  });

  it('is split where it has no validation part', async () => {
    const host = withParts();
    host.summaryOf = {
      splits: splits.filter(({ name }) => name !== 'validation'),
      split: 'training'
    };
    await openTransforms(host);
    screen.getByText('Split: 80 % for training');
  });

  it('says why a part cannot be shown, and shows it later', async () => {
    const host = withParts();
    await show(host);
    const validation = host.splits.get('validation') as MockHost;
    const own = validation.summary.bind(validation);
    validation.summary = () => Promise.reject(new Error('it was moved'));
    choose(/^Validation/);
    await screen.findByText('it was moved');
    validation.summary = own;
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await screen.findByRole('button', { name: /^validation\/0\.png/ });
    expect(screen.queryByText('it was moved')).toBeNull();
  });
});
