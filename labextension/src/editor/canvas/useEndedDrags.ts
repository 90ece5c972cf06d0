// Ends a drag whose button was released where the page did not hear it, such as in another window.
import { RefObject, useEffect } from 'react';

export function useEndedDrags(isDragging: RefObject<boolean>): void {
  useEffect(() => {
    // React Flow waits for the release on the window
    const release = (at?: MouseEvent) => {
      if (isDragging.current) {
        const { clientX = 0, clientY = 0 } = at ?? {};
        window.dispatchEvent(
          new MouseEvent('mouseup', { view: window, clientX, clientY })
        );
      }
    };
    let last: MouseEvent | undefined;
    const move = (event: MouseEvent) => {
      if (event.buttons === 0) {
        release(event);
      }
      last = event;
    };
    const blur = () => release(last);
    window.addEventListener('mousemove', move, true);
    window.addEventListener('blur', blur);
    return () => {
      window.removeEventListener('mousemove', move, true);
      window.removeEventListener('blur', blur);
    };
  }, [isDragging]);
}
