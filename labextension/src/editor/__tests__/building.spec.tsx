// Tests of building a graph: the quick menu, layers dropped onto edges, favorites.
import {
  act,
  createEvent,
  cleanup,
  fireEvent,
  screen
} from '@testing-library/react';

import { GraphDocument } from '..';
import { LayerSchema } from '../model/graph-data';
import { openEditor } from './opening';

const layer = (
  type: string,
  inputs: string[],
  outputs: string[]
): LayerSchema => ({
  type,
  label: type,
  category: 'any',
  summary: '',
  palette: true,
  inputs: inputs.map(name => ({ name, variadic: false, optional: false })),
  outputs: outputs.map(name => ({ name })),
  schema: { properties: {} }
});

const LAYERS = [
  layer('Source', [], ['out']),
  layer('LongFilter', ['x'], ['out']),
  layer('Filter', ['x'], ['out']),
  layer('Sink', ['x'], [])
];

const open = () => openEditor({ layers: () => Promise.resolve(LAYERS) });

const canvas = () => screen.getByLabelText('Graph of the model');
const search = () => screen.getByRole('combobox');
const offered = () =>
  screen.queryAllByRole('option').map(option => option.dataset.layer);
const press = (key: string) => fireEvent.keyDown(search(), { key });
const edgesOf = (document: GraphDocument) => {
  const { nodes, edges } = document.snapshot();
  return Object.values(edges).map(
    ({ source, target }) => `${nodes[source].name} ${nodes[target].name}`
  );
};

beforeEach(() => {
  window.localStorage.clear();
  jest.useFakeTimers();
});
afterEach(async () => {
  await act(async () => {
    jest.advanceTimersByTime(1000);
  });
  jest.useRealTimers();
});

describe('the quick menu', () => {
  it('opens by a key and adds after the selection', async () => {
    const { document, actions } = await open();
    act(() => void actions.addLayer('Source'));
    fireEvent.keyDown(canvas(), { key: 'A', shiftKey: true });
    expect(window.document.activeElement).toBe(search());
    // the layer that was used last comes first
    expect(offered()).toEqual(['Source', 'LongFilter', 'Filter', 'Sink']);
    fireEvent.change(search(), { target: { value: 'filter' } });
    expect(offered()).toEqual(['Filter', 'LongFilter']);
    press('Enter');
    expect(edgesOf(document)).toEqual(['source filter']);
    expect(screen.queryByRole('listbox')).toBeNull();
    expect(window.document.activeElement).toBe(canvas());
  });

  it('offers an input first in an empty model', async () => {
    const layers = [...LAYERS, layer('Input', [], ['out'])];
    await openEditor({ layers: () => Promise.resolve(layers) });
    fireEvent.keyDown(canvas(), { key: 'A', shiftKey: true });
    expect(offered()[0]).toBe('Input');
  });

  it('adds what was confirmed before the layers were there', async () => {
    let load: (layers: LayerSchema[]) => void = () => undefined;
    const layers = () =>
      new Promise<LayerSchema[]>(resolve => {
        load = resolve;
      });
    const { document } = await openEditor({ layers });
    fireEvent.keyDown(canvas(), { key: 'A', shiftKey: true });
    expect(screen.getByRole('dialog').textContent).toContain('Loading');
    fireEvent.change(search(), { target: { value: 'sin' } });
    press('Enter');
    await act(async () => load(LAYERS));
    const { nodes } = document.snapshot();
    expect(Object.values(nodes).map(({ type }) => type)).toEqual(['Sink']);
    expect(screen.queryByRole('listbox')).toBeNull();
  });

  it('offers what fits a link, and connects it in one step', async () => {
    const { document, actions } = await open();
    let filter = '';
    act(() => {
      actions.addLayer('Source');
      filter = actions.addLayer('Filter') ?? '';
    });
    const before = document.snapshot();
    const spot = { before: { node: filter, port: 'x' } };
    act(() => actions.openMenu({ at: [0, 0], spot }));
    expect(offered()).not.toContain('Sink');
    fireEvent.click(screen.getByRole('option', { name: /LongFilter/ }));
    // an input that is not variadic accepts one edge
    expect(edgesOf(document)).toEqual(['longfilter filter']);
    act(() => actions.undo());
    expect(document.snapshot()).toEqual(before);
  });

  it('is walked with the arrow keys, round and round', async () => {
    const { actions } = await open();
    act(() => actions.openMenu());
    const chosen = () =>
      screen.getByRole('option', { selected: true }).dataset.layer;
    const activeDescendant = () =>
      window.document.getElementById(
        search().getAttribute('aria-activedescendant') ?? ''
      )?.dataset.layer;
    const seen = ['ArrowDown', 'ArrowUp', 'ArrowUp'].map(key => {
      press(key);
      expect(activeDescendant()).toBe(chosen());
      return chosen();
    });
    expect(seen).toEqual(['LongFilter', 'Source', 'Sink']);
  });

  it('goes away without a choice', async () => {
    const { document, actions } = await open();
    act(() => actions.openMenu());
    fireEvent.change(search(), { target: { value: 'zzz' } });
    expect(screen.getByText('No layer matches “zzz”.')).toBeTruthy();
    press('Enter');
    press('Escape');
    expect(screen.queryByRole('combobox')).toBeNull();
    expect(window.document.activeElement).toBe(canvas());
    act(() => actions.openMenu());
    fireEvent.pointerDown(window.document.body);
    expect(screen.queryByRole('combobox')).toBeNull();
    expect(document.canUndo()).toBe(false);
  });
});

describe('a layer dropped from the palette', () => {
  const drop = (type: string, onto: Element) => {
    const data = {
      types: ['application/x-labdl-layer', 'application/x-labdl-inner-layer'],
      getData: () => type
    };
    for (const kind of ['dragOver', 'drop'] as const) {
      const event = createEvent[kind](onto, { dataTransfer: data });
      // jsdom has no drag events, so they have no coordinates
      fireEvent(onto, Object.assign(event, { clientX: 40, clientY: 50 }));
    }
  };

  it('goes into the link under it, if it fits', async () => {
    const { document, actions } = await open();
    act(() => {
      actions.addLayer('Source');
      actions.addLayer('Sink');
    });
    const [id] = Object.keys(document.snapshot().edges);
    // jsdom measures no nodes, so React Flow draws no edges
    const link = window.document.createElement('div');
    link.className = 'react-flow__edge';
    link.dataset.id = id;
    canvas().append(link);
    drop('Source', link);
    expect(edgesOf(document)).toEqual(['source sink']);
    drop('Filter', link);
    // The edge into the same port keeps the order of the old one.
    expect(edgesOf(document)).toEqual(['filter sink', 'source filter']);
    expect(document.snapshot().edges[id]).toBeUndefined();
    act(() => actions.undo());
    expect(edgesOf(document)).toEqual(['source sink']);
    drop('Filter', canvas());
    expect(edgesOf(document)).toEqual(['source sink']);
    link.remove();
  });
});

describe('favorites', () => {
  const heading = (name: string) => screen.queryByRole('button', { name });
  const inGroup = (name: string) =>
    [
      ...(heading(name)?.parentElement?.querySelectorAll<HTMLElement>(
        '.labdl-palette-item'
      ) ?? [])
    ].map(item => item.dataset.layer);

  it('come first, and come back', async () => {
    const { actions } = await open();
    expect(heading('Favorites')).toBeNull();
    expect(heading('Recent')).toBeNull();
    const star = screen.getByLabelText('Sink is a favorite');
    expect(star.getAttribute('aria-pressed')).toBe('false');
    fireEvent.click(star);
    act(() => void actions.addLayer('Source'));
    act(() => void actions.addLayer('Filter'));
    for (let visit = 0; visit < 2; visit++) {
      expect(inGroup('Favorites')).toEqual(['Sink']);
      expect(inGroup('Recent')).toEqual(['Filter', 'Source']);
      cleanup();
      await open();
    }
    fireEvent.change(screen.getByRole('searchbox'), {
      target: { value: 'sink' }
    });
    expect(heading('Favorites')).toBeNull();
    fireEvent.click(screen.getByLabelText('Sink is a favorite'));
    fireEvent.change(screen.getByRole('searchbox'), { target: { value: '' } });
    expect(heading('Favorites')).toBeNull();
  });
});
