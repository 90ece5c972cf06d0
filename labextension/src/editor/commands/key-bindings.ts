// Key bindings of the canvas.
import { isTyping } from '../../ui/host-keys';
import { EditorActions } from './actions';
import { SELECTION_COMMANDS } from './selection-commands';

interface Binding {
  key: string;
  /** Ctrl, or Cmd on a Mac. */
  accel?: boolean;
  shift?: boolean;
  run(actions: EditorActions): void;
}

const BINDINGS: Binding[] = [
  { key: 'z', accel: true, run: actions => actions.undo() },
  { key: 'z', accel: true, shift: true, run: actions => actions.redo() },
  { key: 'y', accel: true, run: actions => actions.redo() },
  { key: 'x', accel: true, run: actions => void actions.cut() },
  { key: 'c', accel: true, run: actions => void actions.copy() },
  { key: 'v', accel: true, run: actions => void actions.paste() },
  { key: 'd', accel: true, run: actions => actions.duplicate() },
  ...SELECTION_COMMANDS.map(command => ({
    ...command.key,
    run: (actions: EditorActions) => actions.select(command)
  })),
  { key: 'a', shift: true, run: actions => actions.openMenu() },
  { key: 'n', shift: true, run: actions => actions.addNote() },
  { key: 'l', run: actions => actions.link() },
  { key: 'g', accel: true, run: actions => actions.group() },
  { key: 'g', accel: true, shift: true, run: actions => actions.ungroup() },
  { key: 'delete', run: actions => actions.deleteSelection() },
  { key: 'backspace', run: actions => actions.deleteSelection() },
  {
    key: 'escape',
    run: actions =>
      actions.selectedNodes().length || actions.selectedNotes().length
        ? actions.clearSelection()
        : actions.leave()
  }
];

export interface KeyStroke {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

function bindingOf(stroke: KeyStroke): Binding | undefined {
  const accel = stroke.ctrlKey || stroke.metaKey;
  return BINDINGS.find(
    binding =>
      binding.key === stroke.key.toLowerCase() &&
      Boolean(binding.accel) === accel &&
      Boolean(binding.shift) === stroke.shiftKey &&
      !stroke.altKey
  );
}

/** Whether a key has an action where it was pressed, so that the host must leave it to the editor. */
export function takesKey(event: KeyboardEvent): boolean {
  return !isTyping(event.target) && bindingOf(event) !== undefined;
}

/** Runs the action of a key; false if there is none. */
export function runKey(stroke: KeyStroke, actions: EditorActions): boolean {
  const binding = bindingOf(stroke);
  binding?.run(actions);
  return binding !== undefined;
}
