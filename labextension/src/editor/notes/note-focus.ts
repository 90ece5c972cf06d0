// Keeps the keyboard on the canvas when what had its focus goes away.
import { RefObject, useLayoutEffect } from 'react';

/** As the part goes, by undo, say, the canvas takes the focus from it or from what is around it. */
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
