// Frames around open blocks, computed from the nodes inside.
import { FRAME } from '../../api/drawing';
import { Size } from '../canvas/node-size';
import { Position } from '../model/graph-data';
import { pathsOf } from '../model/paths';

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

const { padding, heading, foot } = FRAME;

/** The bounding box of rectangles; null if there are none. */
export function around(rects: Rect[]): Rect | null {
  if (rects.length === 0) {
    return null;
  }
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y, width, height } of rects) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + width);
    bottom = Math.max(bottom, y + height);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

export function frameAround({ x, y, width, height }: Rect): Rect {
  return {
    x: x - padding,
    y: y - heading - padding / 2,
    width: width + 2 * padding,
    height: height + heading + padding / 2 + foot
  };
}

/** Name, position and size of a drawn node or folded block. */
export interface Placed {
  name: string;
  at: Position;
  size: Size;
}

/** The frame of each block; `paths` lists outer blocks first. */
export function framesOf(paths: string[], placed: Placed[]): Map<string, Rect> {
  const open = new Set(paths);
  const held = new Map<string, Rect[]>(paths.map(path => [path, []]));
  const put = (name: string, rect: Rect) => {
    const home = pathsOf(name)
      .reverse()
      .find(path => open.has(path));
    if (home !== undefined) {
      held.get(home)?.push(rect);
    }
  };
  for (const { name, at, size } of placed) {
    put(name, { x: at[0], y: at[1], ...size });
  }
  const frames = new Map<string, Rect>();
  for (const path of [...paths].reverse()) {
    const rect = around(held.get(path) ?? []);
    if (rect) {
      const frame = frameAround(rect);
      frames.set(path, frame);
      put(path, frame);
    }
  }
  return frames;
}
