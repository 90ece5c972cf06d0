// Keys that undo and redo edits of the steps; text fields undo their own.

import { isTyping } from '../../ui/host-keys';

/** What a key does in the list of steps; null for all others. */
export function undoOf(event: KeyboardEvent): 'undo' | 'redo' | null {
  const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
  if (!(ctrlKey || metaKey) || altKey || isTyping(target)) {
    return null;
  }
  const letter = key.toLowerCase();
  return letter === 'z'
    ? shiftKey
      ? 'redo'
      : 'undo'
    : letter === 'y'
      ? 'redo'
      : null;
}

/** Whether the steps use a key with Ctrl or Cmd, which the host must leave to them. */
export function takesUndoKey(event: KeyboardEvent): boolean {
  return (
    undoOf(event) !== null &&
    (event.target as HTMLElement).closest('.labdl-data-pipeline') !== null
  );
}
