// Shows a React element inside a widget's view until the view goes.

import type { AnyModel } from '@anywidget/types';
import { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

export interface Mounted {
  /** The element around the React tree. */
  readonly frame: HTMLElement;
  readonly unmount: () => void;
}

/** As `mount`, as high as the widget says, with a context menu that is not the host's. */
export function mountTall(
  model: AnyModel<{ height: number }>,
  el: HTMLElement,
  content: ReactNode
): () => void {
  const { frame, unmount } = mount(el, 'labdl-widget', content);
  frame.dataset.jpSuppressContextMenu = 'true';
  const resize = () => {
    frame.style.height = `${model.get('height')}px`;
  };
  resize();
  model.on('change:height', resize);
  return () => {
    model.off('change:height', resize);
    unmount();
  };
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
