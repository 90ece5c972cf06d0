// Returns the focus to the canvas when a focused element is removed.
import { RefObject, useLayoutEffect } from 'react';

/** Moves the focus to the canvas on unmount if it is in the element, or in the closest `around` it. */
export function useReturnFocus(
  part: RefObject<HTMLElement | null>,
  around?: string
): void {
  useLayoutEffect(() => {
    const own = part.current;
    const whole = around ? own?.closest(around) : own;
    const canvas = own?.closest<HTMLElement>('.labdl-canvas');
    return () => {
      if (whole?.contains(document.activeElement)) {
        canvas?.focus({ preventScroll: true });
      }
    };
  }, [part, around]);
}
