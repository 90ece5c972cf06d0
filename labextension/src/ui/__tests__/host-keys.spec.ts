// Keys of a widget beside the shortcuts of Lumino, which JupyterLab and Notebook use.
import { CommandRegistry } from '@lumino/commands';

import { keepKeys } from '../host-keys';

const SHORTCUTS: [string, string[], string?][] = [
  ['save', ['Ctrl S']],
  ['palette', ['Ctrl Shift C']],
  ['print', ['Ctrl P']],
  ['undo', ['Ctrl Z']],
  ['copy', ['Ctrl C']],
  ['duplicate', ['Ctrl D']],
  ['insert above', ['A'], 'body :focus'],
  ['insert heading', ['Shift A']],
  ['delete', ['D', 'D'], 'body :focus'],
  ['cut', ['X']],
  ['edit', ['Enter']],
  ['run', ['Shift Enter']],
  ['full screen', ['F11']],
  ['merge', ['Ctrl Shift M']]
];

let ran: string[];
let release: () => void;
let commands: CommandRegistry;
const find = (selector: string) =>
  document.querySelector(selector) as HTMLElement;
const listen = (event: KeyboardEvent) => commands.processKeydownEvent(event);

// Notebook reads keys on their way down, JupyterLab on their way up.
describe.each([true, false])('a host that captures keys: %s', isCapturing => {
  beforeEach(() => {
    ran = [];
    commands = new CommandRegistry();
    for (const [id, keys, selector = 'body'] of SHORTCUTS) {
      commands.addCommand(id, { execute: () => void ran.push(id) });
      commands.addKeyBinding({ command: id, keys, selector });
    }
    document.addEventListener('keydown', listen, isCapturing);
    document.body.innerHTML =
      '<div id="widget"><div tabindex="0" id="canvas"><i tabindex="0"></i></div><input><button></button><textarea></textarea></div><p tabindex="0"></p>';
    release = keepKeys(
      find('#widget'),
      ({ key, ctrlKey }) => ctrlKey && key === 'd'
    );
  });

  afterEach(() => {
    release();
    document.removeEventListener('keydown', listen, isCapturing);
  });

  /** Presses keys such as "Ctrl+Shift+c" on an element; returns the shortcuts that ran. */
  const press = async (selector: string, ...strokes: string[]) => {
    ran = [];
    for (const stroke of strokes) {
      const names = stroke.split('+');
      const key = names.pop() ?? '';
      const code = {
        Enter: 13,
        Delete: 46,
        F11: 122
      }[key];
      const event = new KeyboardEvent('keydown', {
        key,
        keyCode: code ?? key.toUpperCase().charCodeAt(0),
        ctrlKey: names.includes('Ctrl'),
        shiftKey: names.includes('Shift'),
        altKey: names.includes('Alt'),
        bubbles: true,
        cancelable: true
      });
      const target = find(selector);
      target.focus();
      target.dispatchEvent(event);
      // a shortcut waits until the browser has handled the key
      await new Promise(resolve => setTimeout(resolve));
    }
    return ran;
  };

  it('leaves shortcuts with Ctrl to the host, everywhere', async () => {
    for (const place of ['#canvas', 'input', 'button', 'textarea']) {
      expect(await press(place, 'Ctrl+s')).toEqual(['save']);
      expect(await press(place, 'Ctrl+Shift+C')).toEqual(['palette']);
      expect(await press(place, 'Ctrl+p')).toEqual(['print']);
      expect(await press(place, 'Ctrl+Shift+M')).toEqual(['merge']);
      expect(await press(place, 'F11')).toEqual(['full screen']);
    }
  });

  it('keeps single keys', async () => {
    for (const place of ['#canvas', 'input', 'button']) {
      expect(
        await press(place, 'a', 'd', 'd', 'x', 'Enter', 'Shift+A')
      ).toEqual([]);
    }
  });

  it('decides anew for each key and each element', async () => {
    expect(await press('#canvas', 'a')).toEqual([]);
    expect(await press('i', 'Ctrl+s', 'a')).toEqual(['save']);
  });

  it('keeps the keys that the widget names', async () => {
    expect(await press('#canvas', 'Ctrl+d')).toEqual([]);
    expect(await press('p', 'Ctrl+d')).toEqual(['duplicate']);
  });

  it('keeps the keys of text in text fields only', async () => {
    expect(await press('input', 'Ctrl+z', 'Ctrl+c')).toEqual([]);
    expect(await press('textarea', 'Shift+Enter')).toEqual([]);
    expect(await press('button', 'Shift+Enter')).toEqual([]);
    expect(await press('#canvas', 'Ctrl+z', 'Ctrl+c')).toEqual([
      'undo',
      'copy'
    ]);
    expect(await press('#canvas', 'Shift+Enter')).toEqual(['run']);
  });

  it('keeps nothing outside of the widget, nor after its end', async () => {
    expect(await press('p', 'a', 'd', 'd')).toEqual(['insert above', 'delete']);
    release();
    expect(await press('#canvas', 'a')).toEqual(['insert above']);
  });

  it('keeps input events from the host', () => {
    const input = find('input');
    const cancel = (event: Event) => event.preventDefault();
    input.addEventListener('beforeinput', cancel);
    const event = new InputEvent('beforeinput', {
      inputType: 'insertLineBreak',
      bubbles: true,
      cancelable: true
    });
    input.dispatchEvent(event);
    expect(event.defaultPrevented).toBe(false);
  });
});
