// Where the pointer is on the canvas, for what a key or the context menu adds there.
import { RefObject, useEffect, useRef } from 'react';

interface Point {
  x: number;
  y: number;
}

/** Asks for the pointer's place on the page; null if it is not over the free canvas. */
export function usePointer(
  canvas: RefObject<HTMLElement | null>
): () => Point | null {
  const at = useRef<Point | null>(null);
  useEffect(() => {
    const element = canvas.current;
    // A menu that opened under the pointer stands for the place that it was opened at.
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
