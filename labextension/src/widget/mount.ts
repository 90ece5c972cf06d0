// Renders a React element into a widget's view until the view is removed.

import type { AnyModel } from '@anywidget/types';
import { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { ignoreComposition } from '../ui/composition';
import { keepKeys, type TakesKey } from '../ui/host-keys';

export interface Mounted {
  /** Element around the React root. */
  readonly frame: HTMLElement;
  readonly unmount: () => void;
}

/** Like `mount`, with the height of the widget's trait and without the host's context menu. */
export function mountTall(
  model: AnyModel<{ height: number }>,
  el: HTMLElement,
  content: ReactNode,
  takes: TakesKey
): () => void {
  const { frame, unmount } = mount(el, 'labdl-widget', content, takes);
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
  content: ReactNode,
  takes?: TakesKey
): Mounted {
  const frame = document.createElement('div');
  frame.className = className;
  const releaseKeys = keepKeys(frame, takes);
  const endComposition = ignoreComposition(target => frame.contains(target));
  el.append(frame);
  // each widget has a React of its own, which would count the ids of its elements from the same start
  const identifierPrefix = `labdl-${Math.random().toString(36).slice(2)}-`;
  const root = createRoot(frame, { identifierPrefix });
  root.render(content);
  return {
    frame,
    unmount: () => {
      root.unmount();
      releaseKeys();
      endComposition();
      frame.remove();
    }
  };
}
