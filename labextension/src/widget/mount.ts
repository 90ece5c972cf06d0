// Renders a React element into a widget's view until the view is removed.

import type { AnyModel } from '@anywidget/types';
import { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

export interface Mounted {
  /** Element around the React root. */
  readonly frame: HTMLElement;
  readonly unmount: () => void;
}

/** Like `mount`, with the height of the widget's trait and without the host's context menu. */
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
  // Otherwise the notebook handles keys meant for us: Enter on a button would edit the cell, D D would delete it.
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
