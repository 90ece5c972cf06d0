// Pointer position on the canvas, for commands from keys and the context menu.
import { RefObject, useEffect, useRef } from 'react';

interface Point {
  x: number;
  y: number;
}

/** Returns a function for the pointer's position on the page; null while it is not over the canvas. */
export function usePointer(
  canvas: RefObject<HTMLElement | null>
): () => Point | null {
  const at = useRef<Point | null>(null);
  useEffect(() => {
    const element = canvas.current;
    // While a context menu is open, the position at which it was opened counts.
    let isMenu = false;
    const move = (event: PointerEvent | MouseEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const isPanel = target?.closest(
        '.react-flow__panel, .react-flow__node-toolbar'
      );
      isMenu = event.type === 'contextmenu';
      at.current = isPanel ? null : { x: event.clientX, y: event.clientY };
    };
    const leave = () => {
      if (!isMenu) {
        at.current = null;
      }
    };
    element?.addEventListener('pointermove', move, { passive: true });
    element?.addEventListener('contextmenu', move, { capture: true });
    element?.addEventListener('pointerleave', leave);
    return () => {
      element?.removeEventListener('pointermove', move);
      element?.removeEventListener('contextmenu', move, { capture: true });
      element?.removeEventListener('pointerleave', leave);
    };
  }, [canvas]);
  return () => at.current;
}
