// When a command moves the focus.

/**
 * Runs a command that moves the focus: at once for a key pressed in an editor, where the next key may follow before
 * any timer; else a moment later, since the command palette restores the previous focus.
 */
export function runWithFocus(run: () => void): void {
  if (document.activeElement?.closest('.labdl-editor')) {
    run();
  } else {
    setTimeout(run);
  }
}
