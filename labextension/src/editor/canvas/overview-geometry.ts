// Geometry of the overview: the part of the canvas that it shows, and all nodes as one path.
import { CanvasNode } from '../notes/react-flow-notes';
import { Size } from './node-size';

export interface Rect extends Size {
  x: number;
  y: number;
}

/** Distance of the nodes from the border, in pixels of the overview. */
const BORDER = 5;

/** Positions are rounded to this part of a pixel, so that nodes that look the same are drawn once. */
const PARTS = 2;

/** From the coordinates of the canvas to pixels of the overview. */
export interface Scale {
  x: number;
  y: number;
  /** Units of the canvas in one pixel. */
  units: number;
}

export function rectOf(node: CanvasNode): Rect {
  const { x, y } = node.position;
  const width = node.measured?.width ?? node.width ?? node.initialWidth ?? 0;
  const height =
    node.measured?.height ?? node.height ?? node.initialHeight ?? 0;
  return { x, y, width, height };
}

/** The smallest rectangle around all; null around none. */
export function boundsOf(rects: readonly Rect[]): Rect | null {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y, width, height } of rects) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + width);
    bottom = Math.max(bottom, y + height);
  }
  return rects.length
    ? { x: left, y: top, width: right - left, height: bottom - top }
    : null;
}

/** The smallest rectangle around two. */
export function unionOf(one: Rect, other: Rect): Rect {
  return boundsOf([one, other]) as Rect;
}

/** The scale at which a rectangle of the canvas fills an overview. */
export function scaleFor({ x, y, width, height }: Rect, size: Size): Scale {
  const units = Math.max(
    width / (size.width - 2 * BORDER),
    height / (size.height - 2 * BORDER),
    Number.MIN_VALUE
  );
  return {
    units,
    x: x - (size.width * units - width) / 2,
    y: y - (size.height * units - height) / 2
  };
}

/** The rectangles as one path of an SVG; each is at least one pixel large. */
export function pathOf(rects: readonly Rect[], scale: Scale): string {
  const round = (pixels: number) => Math.round(pixels * PARTS) / PARTS;
  const pieces = new Set<string>();
  for (const { x, y, width, height } of rects) {
    const left = round((x - scale.x) / scale.units);
    const top = round((y - scale.y) / scale.units);
    const across = Math.max(1, round(width / scale.units));
    const down = Math.max(1, round(height / scale.units));
    pieces.add(`M${left} ${top}h${across}v${down}h${-across}z`);
  }
  return [...pieces].join('');
}

/** Whether rectangles of the canvas are out of view, and none is in `corner`, in pixels of the view. */
export function isUseful(
  rects: readonly Rect[],
  [x, y, zoom]: readonly [number, number, number],
  view: Size,
  corner: Rect
): boolean {
  let isBeyond = false;
  for (const rect of rects) {
    const left = rect.x * zoom + x;
    const top = rect.y * zoom + y;
    const right = left + rect.width * zoom;
    const bottom = top + rect.height * zoom;
    if (left < 0 || top < 0 || right > view.width || bottom > view.height) {
      isBeyond = true;
    }
    const isUnder =
      right > corner.x &&
      bottom > corner.y &&
      left < corner.x + corner.width &&
      top < corner.y + corner.height;
    if (isUnder) {
      return false;
    }
  }
  return isBeyond;
}
