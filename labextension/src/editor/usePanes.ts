// Open panels beside the canvas: all in a wide editor, one at a time in a narrow one.
import { useEffect, useState, type RefObject } from 'react';

interface Panes {
  readonly palette: boolean;
  readonly inspector: boolean;
}

/** Width in pixels below which two panels leave the canvas too little room. */
const NARROW = 720;
/** Additional width that the code panel takes. */
const CODE = 380;
const NONE: Panes = { palette: false, inspector: false };

/** A narrow editor starts without panels, and a panel that is opened there closes the other. */
export function usePanes(editor: RefObject<Element>, hasCode: boolean) {
  const [width, setWidth] = useState(Infinity);
  const isNarrow = width < NARROW + (hasCode ? CODE : 0);
  const [wide, setWide] = useState<Panes>({ palette: true, inspector: true });
  const [narrow, setNarrow] = useState(NONE);
  useEffect(() => {
    if (!editor.current) {
      return;
    }
    const observer = new ResizeObserver(([{ contentRect }]) => {
      // a hidden editor has no width: nothing changes until it is shown again
      if (contentRect.width > 0) {
        setWidth(contentRect.width);
      }
    });
    observer.observe(editor.current);
    return () => observer.disconnect();
  }, [editor]);
  const setPane = (name: keyof Panes, isOpen: boolean) =>
    isNarrow
      ? setNarrow({ ...NONE, [name]: isOpen })
      : setWide({ ...wide, [name]: isOpen });
  return [isNarrow ? narrow : wide, setPane] as const;
}
