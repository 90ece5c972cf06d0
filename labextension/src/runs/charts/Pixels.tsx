// Image of an array: tiles of pixels side by side, drawn without smoothing.
import { useEffect, useRef } from 'react';

import type { Picture } from '../store/source';

export interface PixelsProps {
  picture: Picture;
  columns: number;
  /** Maximum number of tiles. */
  most?: number;
  label: string;
}

const GAP = 1;
/** Maximum side of a canvas in pixels; some browsers refuse larger ones. */
const LARGEST = 4096;

export function Pixels({ picture, columns, most, label }: PixelsProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const tiles = Math.min(picture.tiles, most ?? picture.tiles);
  const across = Math.max(1, Math.min(columns, tiles));
  const width = across * (picture.width + GAP) - GAP;
  const height = Math.ceil(tiles / across) * (picture.height + GAP) - GAP;
  const isDrawn = fits(picture) && width <= LARGEST && height <= LARGEST;
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || !isDrawn) {
      return; // no canvas in this browser, or invalid data: the label describes the content
    }
    context.clearRect(0, 0, width, height);
    const bytes = atob(picture.data);
    for (let tile = 0; tile < tiles; tile++) {
      const x = (tile % across) * (picture.width + GAP);
      const y = Math.floor(tile / across) * (picture.height + GAP);
      context.putImageData(tileOf(picture, bytes, tile), x, y);
    }
  }, [picture, tiles, across, width, height, isDrawn]);
  return (
    <canvas
      ref={canvas}
      className="labdl-pixels"
      width={isDrawn ? width : 1}
      height={isDrawn ? height : 1}
      role="img"
      aria-label={label}
      title={label}
    />
  );
}

/** Whether the data have the stated number of pixels. They may come from an untrusted file. */
function fits({ width, height, tiles, colors, data }: Picture): boolean {
  const sizes = [width, height, tiles, colors];
  return (
    sizes.every(size => Number.isInteger(size) && size > 0) &&
    typeof data === 'string' &&
    /^[A-Za-z0-9+/]*={0,2}$/.test(data) &&
    data.length % 4 === 0 &&
    data.length >= (width * height * tiles * colors * 4) / 3
  );
}

function tileOf(picture: Picture, bytes: string, tile: number): ImageData {
  const { width, height, colors } = picture;
  const image = new ImageData(width, height);
  const start = tile * width * height * colors;
  for (let pixel = 0; pixel < width * height; pixel++) {
    for (let color = 0; color < 3; color++) {
      image.data[pixel * 4 + color] = bytes.charCodeAt(
        start + pixel * colors + (colors === 3 ? color : 0)
      );
    }
    image.data[pixel * 4 + 3] = 255;
  }
  return image;
}
