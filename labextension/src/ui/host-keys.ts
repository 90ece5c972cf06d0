// Keys of an element in a host with keyboard shortcuts, such as a notebook.

/** Whether an element uses a key with Ctrl, Cmd or Alt. */
export type TakesKey = (event: KeyboardEvent) => boolean;

/**
 * Lumino, whose shortcuts JupyterLab and Notebook use, ignores the keys of such an element. On an element around the
 * target it would come too late for the shortcuts of whatever has the focus.
 */
const SUPPRESS = 'data-lm-suppress-shortcuts';

/** Keys that edit text together with Ctrl, Cmd or Alt. */
const EDITING = [
  ...['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'],
  ...['Backspace', 'Delete', 'Insert']
];
/** Letters that edit text together with Ctrl or Cmd; the second group also with Shift. */
const EDITING_LETTERS = [
  ['a', 'c', 'x', 'y'],
  ['v', 'z']
];

/**
 * Keeps the shortcuts of the host from the keys that `element` uses: those without Ctrl, Cmd and Alt, which in a
 * notebook insert and delete cells; those that edit text, in a text field; and those that `takes` names.
 * All other keys remain with the host. Returns a function that ends this.
 */
export function keepKeys(
  element: HTMLElement,
  takes: TakesKey = () => false
): () => void {
  let marked: Element | null = null;
  // On the window, since some hosts read keys while these are on their way down from the document.
  const decide = (event: KeyboardEvent) => {
    marked?.removeAttribute(SUPPRESS);
    marked = null;
    const path = event.composedPath();
    const { target } = event;
    if (
      path.includes(element) &&
      target instanceof Element &&
      (usesKey(event, path[0]) || takes(event))
    ) {
      target.setAttribute(SUPPRESS, '');
      marked = target;
    }
  };
  // JupyterLab cancels line breaks and undo in text fields of a notebook, in case they have a shortcut.
  const keepInput = (event: Event) => event.stopPropagation();
  window.addEventListener('keydown', decide, true);
  element.addEventListener('beforeinput', keepInput, true);
  return () => {
    marked?.removeAttribute(SUPPRESS);
    window.removeEventListener('keydown', decide, true);
    element.removeEventListener('beforeinput', keepInput, true);
  };
}

function usesKey(event: KeyboardEvent, target: EventTarget): boolean {
  if (event.getModifierState('AltGraph')) {
    return true; // types a character
  }
  if (event.ctrlKey || event.metaKey || event.altKey) {
    return isTyping(target) && editsText(event);
  }
  if (event.key === 'Enter' && event.shiftKey) {
    return isTyping(target) || isButton(target); // elsewhere it runs the cell
  }
  return !/^F\d+$/.test(event.key);
}

function editsText({ key, altKey, shiftKey }: KeyboardEvent): boolean {
  const [plain, both] = EDITING_LETTERS;
  const letters = shiftKey ? both : [...plain, ...both];
  return (
    EDITING.includes(key) || (!altKey && letters.includes(key.toLowerCase()))
  );
}

/** Whether the target is a text field. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}

function isButton(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    ['A', 'BUTTON', 'SUMMARY'].includes(target.tagName)
  );
}
