// React hook for the current width of an element.

import { useEffect, useState, type RefObject } from 'react';

export function useWidth(element: RefObject<Element>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!element.current) {
      return;
    }
    const observer = new ResizeObserver(([entry]) => {
      // a hidden panel has no width: keep the old one until it is shown again
      if (entry.contentRect.width > 0) {
        setWidth(Math.floor(entry.contentRect.width));
      }
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
