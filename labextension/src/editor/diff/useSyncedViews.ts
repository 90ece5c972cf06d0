// Synchronized viewports of two canvases; initially the whole graph or the first difference.
import { useCallback, useLayoutEffect, useRef } from 'react';

import { DiffSideName, SIDES_OF_DIFF } from './diff-data';
import { DiffLayout } from './diff-layout';
import type { SideView } from './DiffSide';
import { around } from '../blocks/frame-geometry';
import { READABLE } from '../canvas/initial-view';

const START_ZOOM = 0.75;
const MOTION = 200;
/** Maximum share of the canvas that a fitted graph fills. */
const FILLED = 0.9;

export function useSyncedViews(layout: DiffLayout, first: string | null) {
  const views = useRef<{ [side in DiffSideName]: SideView | null }>({
    old: null,
    new: null
  });
  const isOpen = useRef(false);

  const onMove = useCallback((side: DiffSideName) => {
    const from = views.current[side];
    const to = views.current[side === 'old' ? 'new' : 'old'];
    if (!isOpen.current || !from || !to) {
      return;
    }
    const { x, y, zoom } = from.flow.getViewport();
    const there = to.flow.getViewport();
    if (there.x !== x || there.y !== y || there.zoom !== zoom) {
      void to.flow.setViewport({ x, y, zoom });
    }
  }, []);

  /** Centers a drawn node on both sides, unless it is already visible and readable. */
  const show = (drawn: string, leastZoom = READABLE, duration = MOTION) => {
    const place = layout.places[drawn];
    const view = views.current.new;
    if (!place || !view) {
      return;
    }
    const size = layout.sizeOf(drawn);
    const { x, y, zoom } = view.flow.getViewport();
    const { width, height } = view.size();
    const [left, top] = [place[0] * zoom + x, place[1] * zoom + y];
    const isSeen =
      zoom >= leastZoom &&
      left >= 0 &&
      top >= 0 &&
      left + size.width * zoom <= width &&
      top + size.height * zoom <= height;
    if (!isSeen) {
      void view.flow.setCenter(
        place[0] + size.width / 2,
        place[1] + size.height / 2,
        { zoom: Math.max(leastZoom, Math.min(1, zoom)), duration }
      );
    }
  };

  /** Shows the whole graph if it is readable, else the first difference. */
  const open = () => {
    const view = views.current.new;
    const all = around(
      Object.entries(layout.places).map(([id, [x, y]]) => ({
        ...layout.sizeOf(id),
        x,
        y
      }))
    );
    if (!view || !views.current.old || !all) {
      return;
    }
    isOpen.current = true;
    const { width, height } = view.size();
    const fitting = Math.min(width / all.width, height / all.height) * FILLED;
    if (fitting < READABLE && first !== null) {
      show(first, START_ZOOM, 0);
    } else {
      const zoom = Math.min(1, fitting);
      void view.flow.setViewport({
        zoom,
        x: width / 2 - (all.x + all.width / 2) * zoom,
        y: height / 2 - (all.y + all.height / 2) * zoom
      });
    }
    onMove('new');
  };

  const latest = useRef(open);
  useLayoutEffect(() => {
    latest.current = open;
  });
  const onView = useCallback((side: DiffSideName, view: SideView | null) => {
    views.current[side] = view;
    const { current } = views;
    if (!isOpen.current && SIDES_OF_DIFF.every(name => current[name])) {
      latest.current();
    }
  }, []);
  return { onView, onMove, show };
}
