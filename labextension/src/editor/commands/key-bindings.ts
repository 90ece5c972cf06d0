// Keyboard shortcuts of the canvas: the editor's own where the host has none.
import { isTyping } from '../../ui/host-keys';
import { Translator } from '../../ui/translator';
import { EditorActions } from './actions';
import { SELECTION_COMMANDS } from './selection-commands';

export interface Shortcut {
  /** Name of the command; hosts know it with the prefix `labdl:`. */
  command: string;
  label(trans: Translator): string;
  /** Keystrokes as JupyterLab writes them; `Accel` is Ctrl, or Cmd on a Mac. */
  keys: string[];
  /** Whether the keys also work while a button of the editor has the focus. */
  isEverywhere?: boolean;
  run(actions: EditorActions): void;
}

/** JupyterLab's settings schema of the editor repeats the keys, which a test compares. */
export const SHORTCUTS: Shortcut[] = [
  {
    command: 'undo',
    label: trans => trans.__('Undo'),
    keys: ['Accel Z'],
    isEverywhere: true,
    run: actions => actions.undo()
  },
  {
    command: 'redo',
    label: trans => trans.__('Redo'),
    keys: ['Accel Shift Z', 'Accel Y'],
    isEverywhere: true,
    run: actions => actions.redo()
  },
  {
    command: 'cut',
    label: trans => trans.__('Cut'),
    keys: ['Accel X'],
    run: actions => void actions.cut()
  },
  {
    command: 'copy',
    label: trans => trans.__('Copy'),
    keys: ['Accel C'],
    run: actions => void actions.copy()
  },
  {
    command: 'paste',
    label: trans => trans.__('Paste'),
    keys: ['Accel V'],
    run: actions => void actions.paste()
  },
  {
    command: 'duplicate',
    label: trans => trans.__('Duplicate'),
    keys: ['Accel D'],
    run: actions => actions.duplicate()
  },
  {
    command: 'delete',
    label: trans => trans.__('Delete'),
    keys: ['Delete', 'Backspace'],
    run: actions => actions.deleteSelection()
  },
  ...SELECTION_COMMANDS.map(command => ({
    command: command.id,
    label: command.label,
    keys: command.keys,
    run: (actions: EditorActions) => actions.select(command)
  })),
  {
    command: 'find',
    label: trans => trans.__('Find Layers…'),
    keys: ['Accel F'],
    isEverywhere: true,
    run: actions => actions.find()
  },
  {
    command: 'clear-selection',
    label: trans => trans.__('Clear Selection, or Leave Block'),
    keys: ['Escape'],
    run: actions => actions.escape()
  },
  {
    command: 'add-layer',
    label: trans => trans.__('Add Layer…'),
    keys: ['Shift A'],
    run: actions => actions.openMenu()
  },
  {
    command: 'add-note',
    label: trans => trans.__('Add Note'),
    keys: ['Shift N'],
    run: actions => actions.addNote()
  },
  {
    command: 'link',
    label: trans => trans.__('Connect Layers'),
    keys: ['L'],
    run: actions => actions.link()
  },
  {
    command: 'group',
    label: trans => trans.__('Group Into a Block'),
    keys: ['Accel G'],
    run: actions => actions.group()
  },
  {
    command: 'ungroup',
    label: trans => trans.__('Ungroup'),
    keys: ['Accel Shift G'],
    run: actions => void actions.ungroup()
  },
  {
    command: 'show-shortcuts',
    label: trans => trans.__('Show Keys of the Canvas'),
    keys: ['Shift /'],
    isEverywhere: true,
    run: actions => actions.showShortcuts()
  }
];

/** The shortcuts of a host that carries out the keys itself, such as JupyterLab, where users change them. */
export interface HostShortcuts {
  /** Keystrokes of a command as in `Shortcut`. */
  keysOf(command: string): string[];
}

export const OWN_SHORTCUTS: HostShortcuts = {
  keysOf: command =>
    SHORTCUTS.find(shortcut => shortcut.command === command)?.keys ?? []
};

const MAC = /mac|iphone|ipad/i.test(globalThis.navigator?.platform ?? '');
/** What a key is called on the page, where it differs from JupyterLab's notation. */
const KEY_NAMES: { [key: string]: string } = {
  Accel: MAC ? '⌘' : 'Ctrl',
  Cmd: '⌘',
  Escape: 'Esc',
  Delete: 'Del'
};
const TYPED_KEYS: { [keys: string]: string } = { 'Shift /': '?' };

/** A keystroke for people: `Ctrl+Shift+Z`, `?`. */
export function formatKeys(keys: string): string {
  return (
    TYPED_KEYS[keys] ??
    keys
      .split(' ')
      .map(key => KEY_NAMES[key] ?? key)
      .join('+')
  );
}

/** A label with the first keystroke of its command in parentheses, if it has any. */
export function labelWithKeys(
  label: string,
  command: string,
  shortcuts: HostShortcuts
): string {
  const [first] = shortcuts.keysOf(command);
  return first ? `${label} (${formatKeys(first)})` : label;
}

export interface KeyStroke {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

function keysOfStroke(stroke: KeyStroke): string {
  const typed = Object.keys(TYPED_KEYS).find(
    keys => TYPED_KEYS[keys] === stroke.key
  );
  if (typed && !stroke.ctrlKey && !stroke.metaKey) {
    return typed;
  }
  const { key } = stroke;
  return [
    (stroke.ctrlKey || stroke.metaKey) && 'Accel',
    stroke.altKey && 'Alt',
    stroke.shiftKey && 'Shift',
    key.length === 1 ? key.toUpperCase() : key
  ]
    .filter(Boolean)
    .join(' ');
}

function shortcutOf(stroke: KeyStroke): Shortcut | undefined {
  const pressed = keysOfStroke(stroke);
  return SHORTCUTS.find(({ keys }) => keys.includes(pressed));
}

/** Whether a key has an action where it was pressed, so that the host must leave it to the editor. */
export function takesKey(event: KeyboardEvent): boolean {
  return !isTyping(event.target) && shortcutOf(event) !== undefined;
}

/** Runs the action of a key; false if there is none. `isEverywhere` limits it to keys that work on every button. */
export function runKey(
  stroke: KeyStroke,
  actions: EditorActions,
  { isEverywhere = false } = {}
): boolean {
  const shortcut = shortcutOf(stroke);
  if (!shortcut || (isEverywhere && !shortcut.isEverywhere)) {
    return false;
  }
  shortcut.run(actions);
  return true;
}
