// Tests of the preferences, and of the reason that a read-only document shows.
import {
  act,
  cleanup,
  fireEvent,
  render,
  screen
} from '@testing-library/react';
import * as Y from 'yjs';

import {
  Editor,
  EditorActions,
  EditorPreferences,
  GraphDocument,
  plainTranslator,
  PREFERENCES
} from '..';
import { LayerSchema } from '../model/graph-data';
import { LayoutRequest, placesInRow } from '../canvas/layout-request';
import './opening';

const LAYERS: LayerSchema[] = ['Source', 'Filter'].map((type, at) => ({
  type,
  label: type,
  category: 'any',
  summary: '',
  palette: true,
  inputs: at ? [{ name: 'x', variadic: false, optional: false }] : [],
  outputs: [{ name: 'out' }],
  schema: { properties: { size: { type: 'integer', title: 'size' } } }
}));

const COSTS = { parameters: 1, operations: 2, memory: 3 };
const HOST = {
  layers: () => Promise.resolve(LAYERS),
  layout: (request: LayoutRequest) => Promise.resolve(placesInRow(request)),
  code: () => Promise.resolve('code'),
  read: () => Promise.resolve({ graph: null, problem: null }),
  check: () => Promise.resolve({ nodes: {}, ...COSTS, problems: [] })
};

async function open(
  preferences?: Partial<EditorPreferences>,
  types = ['Source']
) {
  const document = new GraphDocument(new Y.Doc());
  document.load({
    version: 2,
    name: 'net',
    nodes: Object.fromEntries(
      types.map((type, at) => [`n${at}`, { type, name: `l${at}`, params: {} }])
    ),
    edges: {},
    positions: Object.fromEntries(types.map((_, at) => [`n${at}`, [0, 0]]))
  });
  let actions: EditorActions | undefined;
  const props = (given?: Partial<EditorPreferences>) => ({
    document,
    host: HOST,
    trans: plainTranslator,
    actions: (api: EditorActions) => {
      actions = api;
    },
    preferences: { ...PREFERENCES, ...given }
  });
  const view = render(<Editor {...props(preferences)} />);
  await settle();
  const set = (given: Partial<EditorPreferences>) =>
    view.rerender(<Editor {...props(given)} />);
  return { document, actions: actions as EditorActions, set };
}

const settle = () =>
  act(async () => {
    await jest.advanceTimersByTimeAsync(1000);
  });

beforeEach(() => jest.useFakeTimers());
afterEach(async () => {
  cleanup();
  await settle();
  jest.useRealTimers();
});

test.each([
  ['down', 1],
  ['right', 0]
] as const)('a new graph grows %s', async (direction, axis) => {
  const { document, actions } = await open({ direction });
  act(() => actions.selectNodes(['n0']));
  let id = '';
  act(() => {
    id = actions.addLayer('Filter') ?? '';
  });
  const [a, b] = [document.snapshot().positions[id], [0, 0]];
  expect(a[axis]).toBeGreaterThan(b[axis]);
  expect(a[1 - axis]).toBe(b[1 - axis]);
});

test('layers show the figure that is set, at once when it is set anew', async () => {
  const { set } = await open({ figure: 'memory' });
  const pressed = () =>
    screen.getAllByRole('button', { pressed: true }).map(b => b.className);
  expect(pressed()).toEqual([expect.stringContaining('labdl-status-memory')]);
  set({ figure: 'operations' });
  expect(pressed()).toEqual([
    expect.stringContaining('labdl-status-operations')
  ]);
});

test('unknown layers close the editor until a person wants to edit', async () => {
  const { document, actions } = await open({}, ['Source', 'acme.A', 'acme.B']);
  const bar = () => screen.getByText(/not available here/);
  expect(bar().textContent).toContain('acme.A, acme.B.');
  expect(document.lock.state()).not.toBeNull();
  expect(screen.queryByLabelText('Search layers')).toBeNull();
  act(() => actions.selectNodes(['n0']));
  const field = screen.getByLabelText('size') as HTMLInputElement;
  expect(field.matches(':disabled')).toBe(true);
  act(() => actions.openMenu());
  expect(screen.queryByRole('dialog')).toBeNull();
  for (const label of [/^Undo/, /^Add a layer/, /^Arrange the layers/]) {
    expect(screen.getByRole('button', { name: label })).toHaveProperty(
      'disabled',
      true
    );
  }
  act(() => actions.deleteSelection());
  expect(Object.keys(document.snapshot().nodes)).toHaveLength(3);

  fireEvent.click(screen.getByRole('button', { name: 'Edit anyway' }));
  expect(screen.queryByText(/not available here/)).toBeNull();
  expect(screen.queryByLabelText('Search layers')).not.toBeNull();
  act(() => actions.selectNodes(['n1']));
  act(() => actions.deleteSelection());
  expect(Object.keys(document.snapshot().nodes)).toEqual(['n0', 'n2']);
});

test('many unknown layers are counted, and a host has the last word', async () => {
  const { document } = await open(
    {},
    [...'ABCDEFGH'].map(letter => `acme.${letter}`)
  );
  expect(screen.getByText(/not available here/).textContent).toContain(
    'acme.A, acme.B, acme.C, acme.D, acme.E and 3 more.'
  );
  act(() => document.lock.setReason('test', 'It is newer.'));
  expect(screen.getByText('It is newer.')).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Edit anyway' })).toBeNull();
});
