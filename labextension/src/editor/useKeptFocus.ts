// Keeps the keyboard focus in the editor when the element that has it disappears, such as a deleted layer.
import { RefObject, useEffect } from 'react';

import { isTyping } from '../ui/host-keys';

/**
 * Moves the focus to `canvas` when the focused element of `editor` is removed, since no key would reach the editor
 * any more. Marks the editor with `data-typing` while a text field in it has the focus, for the selectors of shortcuts.
 */
export function useKeptFocus(
  editor: RefObject<HTMLElement | null>,
  canvas: RefObject<HTMLElement | null>
): void {
  useEffect(() => {
    const { current: root } = editor;
    if (!root) {
      return;
    }
    let focused: Element | null = null;
    const enter = (event: FocusEvent) => {
      focused = event.target as Element;
      root.toggleAttribute('data-typing', isTyping(focused));
    };
    const leave = (event: FocusEvent) => {
      // a removed element is still connected when the browser tells that it lost the focus
      if (event.relatedTarget) {
        focused = null;
      }
      root.removeAttribute('data-typing');
    };
    const clicked = (event: PointerEvent) => {
      if (!root.contains(event.target as Node)) {
        focused = null;
      }
    };
    const observer = new MutationObserver(() => {
      if (!focused || focused.isConnected) {
        return;
      }
      focused = null;
      root.removeAttribute('data-typing');
      const { activeElement } = root.ownerDocument;
      if (!activeElement || activeElement === root.ownerDocument.body) {
        canvas.current?.focus({ preventScroll: true });
      }
    });
    observer.observe(root, { childList: true, subtree: true });
    root.addEventListener('focusin', enter);
    root.addEventListener('focusout', leave);
    root.ownerDocument.addEventListener('pointerdown', clicked, true);
    return () => {
      observer.disconnect();
      root.removeEventListener('focusin', enter);
      root.removeEventListener('focusout', leave);
      root.ownerDocument.removeEventListener('pointerdown', clicked, true);
    };
  }, [editor, canvas]);
}
