// Shows a React element inside a widget's view until the view goes.

import { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

export interface Mounted {
  /** The element around the React tree. */
  readonly frame: HTMLElement;
  readonly unmount: () => void;
}

export function mount(
  el: HTMLElement,
  className: string,
  content: ReactNode
): Mounted {
  const frame = document.createElement('div');
  frame.className = className;
  // A notebook must not take keys meant for us: Enter on a button would edit the cell, D D would delete it.
  frame.dataset.lmSuppressShortcuts = 'true';
  el.append(frame);
  const root = createRoot(frame);
  root.render(content);
  return {
    frame,
    unmount: () => {
      root.unmount();
      frame.remove();
    }
  };
}
