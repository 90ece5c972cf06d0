// Tests of adding layers from Python: dropped text and files, classes of a kernel.
import {
  act,
  cleanup,
  createEvent,
  fireEvent,
  screen
} from '@testing-library/react';

import { EditorActions } from '..';
import type { EditorHost, KernelClasses } from '..';
import { GraphData } from '../model/graph-data';
import { openEditor } from './opening';

const READ: GraphData = {
  version: 2,
  name: 'Block',
  nodes: { n1: { type: 'Linear', name: 'linear', params: {} } },
  edges: {},
  positions: {},
  groups: {},
  ties: {}
};

const CLASSES: KernelClasses = {
  from: 'made.ipynb',
  classes: [
    {
      name: 'Block',
      summary: 'Two.',
      layer: null,
      source: 'good',
      problem: null
    },
    { name: 'Scale', summary: '', layer: 'Scale', source: null, problem: null },
    { name: 'Lost', summary: '', layer: null, source: null, problem: 'run it' }
  ]
};

async function open(more: Partial<EditorHost> = {}) {
  const read = jest.fn((source: string) =>
    Promise.resolve(
      source.includes('good')
        ? { graph: READ, problem: null }
        : { graph: null, problem: { message: 'line 1: no', line: 1 } }
    )
  );
  const { document, actions } = await openEditor({ read, ...more });
  const types = () =>
    Object.values(document.snapshot().nodes).map(node => node.type);
  return { document, actions: actions as EditorActions, read, types };
}

const canvas = () => screen.getByLabelText('Graph of the model');

async function drop(data: object, onto: Element = canvas()): Promise<void> {
  const event = createEvent.drop(onto, { dataTransfer: data });
  // jsdom has no drag events, so they have no coordinates
  fireEvent(onto, Object.assign(event, { clientX: 300, clientY: 200 }));
  for (let turn = 0; turn < 5; turn++) {
    await act(async () => undefined);
  }
}

const text = (words: string) => ({
  types: ['text/plain'],
  files: [],
  getData: (kind: string) => (kind === 'text/plain' ? words : '')
});
const file = (name: string, words: string) => ({
  types: ['Files'],
  files: [{ name, size: words.length, text: () => Promise.resolve(words) }],
  getData: () => ''
});

afterEach(cleanup);

describe('Python that is dropped', () => {
  it('is read and lands where it was dropped', async () => {
    const { document, types } = await open();
    await drop(text('good'));
    expect(types()).toEqual(['Linear']);
    const [[x, y]] = Object.values(document.snapshot().positions);
    expect(Math.abs(x + 104 - 300)).toBeLessThan(5);
    expect(Math.abs(y + 29 - 200)).toBeLessThan(20);
    act(() => document.undo());
    expect(types()).toEqual([]);
  });

  it('comes from files of Python, and of no others', async () => {
    const { read, types } = await open();
    await drop(file('block.PY', 'good'));
    expect(types()).toEqual(['Linear']);
    await drop(file('block.txt', 'good'));
    await drop(file('huge.py', 'good'.repeat(300_000)));
    expect(read).toHaveBeenCalledTimes(1);
    expect(
      screen.getByText('Only Python files can be dropped here.')
    ).toBeTruthy();
  });

  it('is answered in a sentence where it cannot be read', async () => {
    const { types } = await open();
    await drop(text('bad'));
    expect(types()).toEqual([]);
    expect(
      screen.getByText('This Python cannot be pasted: line 1: no')
    ).toBeTruthy();
  });

  it('is not asked about where the document is locked', async () => {
    const { document, read } = await open();
    act(() => document.lock.setReason('test', 'Not now.'));
    await drop(text('good'));
    expect(read).not.toHaveBeenCalled();
  });

  it('stays text in a field', async () => {
    const { actions, read } = await open();
    act(() => actions.addNote());
    await drop(text('good'), screen.getByLabelText('Text of the note'));
    expect(read).not.toHaveBeenCalled();
  });
});

describe('the classes of a kernel', () => {
  const button = () => screen.queryByLabelText('Add a class from the kernel');
  const offered = () =>
    [...screen.getByRole('dialog').querySelectorAll('li')].map(
      item => item.querySelector('span')?.textContent
    );
  const choose = async (name: RegExp) => {
    fireEvent.click(screen.getByRole('button', { name }));
    for (let turn = 0; turn < 5; turn++) {
      await act(async () => undefined);
    }
  };
  const show = async (host: Partial<EditorHost>) => {
    const opened = await open(host);
    await act(async () => {
      fireEvent.click(button() as HTMLElement);
    });
    return opened;
  };

  it('are not offered where there is no kernel', async () => {
    await open();
    expect(button()).toBeNull();
  });

  it('are offered, walked with the arrow keys, and one is put onto the canvas', async () => {
    const { types } = await show({ classes: () => Promise.resolve(CLASSES) });
    expect(offered()).toEqual(['Block', 'Scale', 'Lost']);
    const names = ['ArrowDown', 'ArrowUp', 'ArrowUp'].map(key => {
      fireEvent.keyDown(window.document.activeElement as Element, { key });
      return window.document.activeElement?.querySelector('span')?.textContent;
    });
    expect(names).toEqual(['Scale', 'Block', 'Lost']);
    await choose(/^Block/);
    expect(types()).toEqual(['Linear']);
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(window.document.activeElement).toBe(canvas());
  });

  it('that are layers of the notebook stay unknown layers, and it says so', async () => {
    const { types } = await show({ classes: () => Promise.resolve(CLASSES) });
    await choose(/^Scale/);
    expect(types()).toEqual(['Scale']);
    expect(screen.getByText(/^Scale is defined in that notebook/)).toBeTruthy();
  });

  it('without source say why', async () => {
    const { types } = await show({ classes: () => Promise.resolve(CLASSES) });
    await choose(/^Lost/);
    expect(types()).toEqual([]);
    expect(screen.getByText('Lost cannot be read: run it')).toBeTruthy();
  });

  it.each([
    [
      () => Promise.resolve({ classes: [] }),
      /^This kernel has no subclass of nn.Module/
    ],
    [
      () => Promise.reject(new Error('busy')),
      /classes of the kernel could not be listed: busy/
    ],
    [() => Promise.resolve(null), null]
  ])('may be none', async (classes, sentence) => {
    await show({ classes });
    expect(screen.queryByRole('dialog')).toBeNull();
    if (sentence) {
      expect(screen.getByText(sentence)).toBeTruthy();
    }
  });

  it('go away with Escape', async () => {
    await show({ classes: () => Promise.resolve(CLASSES) });
    fireEvent.keyDown(window.document.activeElement as Element, {
      key: 'Escape'
    });
    expect(screen.queryByRole('dialog')).toBeNull();
  });
});
