// Tests of the editor without the drawing: palette, form, status bar.
import { act, fireEvent, screen } from '@testing-library/react';

import { CheckResult, LayerSchema } from '../model/graph-data';
import { openEditor } from './opening';

const LAYERS: LayerSchema[] = [
  {
    type: 'Source',
    label: 'Source',
    category: 'input',
    summary: 'Where data comes in.',
    palette: true,
    inputs: [],
    outputs: [{ name: 'out' }],
    schema: { properties: {} }
  },
  {
    type: 'Filter',
    label: 'Filter',
    category: 'convolution',
    summary: 'Slides over an image.',
    palette: true,
    inputs: [{ name: 'x', variadic: false, optional: false }],
    outputs: [{ name: 'out' }],
    schema: {
      properties: {
        size: {
          anyOf: [
            { type: 'integer', minimum: 1 },
            { type: 'array', items: { type: 'integer' } }
          ],
          default: 3
        },
        bias: { type: 'boolean', default: true }
      }
    }
  }
];

const open = (check: () => Promise<CheckResult>) =>
  openEditor({ layers: () => Promise.resolve(LAYERS), check });

const NOTHING = {
  nodes: {},
  parameters: 0,
  operations: 0,
  memory: 0,
  problems: []
};
const fine = () => Promise.resolve(NOTHING);
const field = (id: string) =>
  window.document.querySelector(`#${id}`) as HTMLInputElement;

/** Advances the timers and waits for pending promises. */
const pass = (ms: number) =>
  act(async () => {
    jest.advanceTimersByTime(ms);
  });

beforeEach(() => jest.useFakeTimers());
afterEach(async () => {
  await pass(1000);
  jest.useRealTimers();
});

describe('Editor', () => {
  it('adds layers from the palette and connects them', async () => {
    const { document } = await open(fine);
    fireEvent.doubleClick(screen.getByText('Source'));
    fireEvent.keyDown(screen.getByText('Filter'), { key: 'Enter' });
    const graph = document.snapshot();
    expect(Object.values(graph.nodes).map(node => node.name)).toEqual([
      'source',
      'filter'
    ]);
    expect(Object.values(graph.edges)).toMatchObject([
      { source_port: 'out', target_port: 'x' }
    ]);
  });

  it('mends a problem at a click, and that is one undo step', async () => {
    const fix = {
      kind: 'insert' as const,
      edge: 'e',
      type: 'Filter',
      params: { size: 7 }
    };
    const problem = { node: 'b', edge: null, message: 'too large', fix };
    const { document } = await open(() =>
      Promise.resolve({ ...NOTHING, problems: [problem] })
    );
    await act(async () =>
      document.load({
        version: 2,
        name: '',
        nodes: {
          a: { type: 'Source', name: 'a', params: {} },
          b: { type: 'Filter', name: 'b', params: {} }
        },
        edges: {
          e: { source: 'a', source_port: 'out', target: 'b', target_port: 'x' }
        },
        positions: { a: [0, 0], b: [0, 100] }
      })
    );
    await pass(100);
    const before = document.snapshot();
    fireEvent.click(screen.getByText('Insert Filter(7)'));
    const { nodes, edges, positions } = document.snapshot();
    const [added] = Object.keys(nodes).filter(id => !(id in before.nodes));
    expect(nodes[added].params).toEqual({ size: 7 });
    expect(Object.values(edges)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ source: 'a', target: added }),
        expect.objectContaining({ source: added, target: 'b' })
      ])
    );
    expect(Object.keys(edges)).toHaveLength(2);
    expect(positions[added][1]).toBeLessThan(positions.b[1]);
    await act(async () => document.undo());
    expect(document.snapshot()).toEqual(before);
  });

  it('shows what the model costs, and on each layer the cost that was chosen', async () => {
    const costs = { parameters: 1234, operations: 5e6, memory: 2048 };
    const node = { ...costs, outputs: {}, problem: null };
    await open(() =>
      Promise.resolve({ ...NOTHING, ...costs, nodes: { a: node } })
    );
    const figures = ['1,234 parameters', '5 M FLOPs', '2 kB'];
    const figure = (name: string) => screen.getByRole('button', { name });
    const pressed = () =>
      figures.map(text => figure(text).getAttribute('aria-pressed'));
    expect(pressed()).toEqual(['true', 'false', 'false']);
    fireEvent.click(figure('5 M FLOPs'));
    expect(pressed()).toEqual(['false', 'true', 'false']);
  });

  it('shows the settings of the layer that a node shares, and parts them', async () => {
    const { document, actions } = await open(fine);
    await act(async () =>
      document.load({
        version: 2,
        name: 'Twice',
        nodes: {
          a: { type: 'Filter', name: 'block', params: { size: 5 } },
          b: { type: 'Filter', name: 'again', params: {}, shares: 'a' }
        },
        edges: {},
        positions: {}
      })
    );
    await act(async () => actions.selectNodes(['b']));
    expect(screen.getByText(/The same layer as block/)).toBeTruthy();
    expect(field('labdl_size').value).toBe('5');
    fireEvent.change(field('labdl_size'), { target: { value: '7' } });
    await pass(500);
    expect(document.snapshot().nodes.a.params).toEqual({ size: 7 });
    expect(document.snapshot().nodes.b.params).toEqual({});
    fireEvent.click(screen.getByText('Make independent'));
    expect(screen.queryByText(/The same layer as/)).toBeNull();
    fireEvent.change(field('labdl_size'), { target: { value: '9' } });
    await pass(500);
    expect(document.snapshot().nodes).toEqual({
      a: { type: 'Filter', name: 'block', params: { size: 7 } },
      b: { type: 'Filter', name: 'again', params: { size: 9 } }
    });
  });

  it('says when no layer matches', async () => {
    await open(fine);
    fireEvent.change(screen.getByRole('searchbox'), {
      target: { value: 'zzz' }
    });
    expect(screen.getByText('No layer matches “zzz”.')).toBeTruthy();
  });

  it('writes what is typed into the form, defaults excepted', async () => {
    const { document, actions } = await open(fine);
    let id = '';
    act(() => {
      id = actions.addLayer('Filter') ?? '';
    });
    const params = () => document.snapshot().nodes[id].params;
    for (const value of ['5', '5,', '5, 7']) {
      fireEvent.change(field('labdl_size'), { target: { value } });
      await pass(200);
    }
    expect(params()).toEqual({ size: [5, 7] });
    fireEvent.change(field('labdl_size'), { target: { value: 'wide' } });
    await pass(200);
    expect(field('labdl_size').getAttribute('aria-invalid')).toBe('true');
    expect(params()).toEqual({ size: [5, 7] });

    act(() => actions.undo());
    expect(params()).toEqual({});
    expect(field('labdl_size').value).toBe('3');

    fireEvent.click(field('labdl_bias'));
    await pass(200);
    expect(params()).toEqual({ bias: false });
    fireEvent.click(field('labdl_bias'));
    await pass(200);
    expect(params()).toEqual({});
  });

  it('gives what was just typed to who saves', async () => {
    const { document, actions } = await open(fine);
    act(() => void actions.addLayer('Filter'));
    fireEvent.change(field('labdl_size'), { target: { value: '8' } });
    const params = () => Object.values(document.snapshot().nodes)[0].params;
    expect(params()).toEqual({});
    act(() => document.applyTyped());
    expect(params()).toEqual({ size: 8 });
  });

  it('has the focus in its search fields before the next key', async () => {
    const { actions } = await open(fine);
    // no act: nothing may wait for a later rendering
    actions.openMenu();
    const label = () => document.activeElement?.getAttribute('aria-label');
    expect(label()).toBe('Search layers that fit here');
    actions.find();
    expect(label()).toBe('Find layers');
  });

  it('refuses a name that Python would not take', async () => {
    const { document, actions } = await open(fine);
    act(() => void actions.addLayer('Filter'));
    const name = () => Object.values(document.snapshot().nodes)[0].name;
    fireEvent.change(field('labdl-name'), { target: { value: 'class' } });
    expect(name()).toBe('filter');
    fireEvent.change(field('labdl-name'), { target: { value: 'stem' } });
    expect(name()).toBe('stem');
  });

  it('shows a check that failed', async () => {
    await open(() => Promise.reject(new Error('the server is away')));
    expect(screen.getByRole('alert').textContent).toContain(
      'The model could not be checked: the server is away'
    );
  });
});
