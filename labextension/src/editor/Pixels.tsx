// A picture of values: tiles of pixels beside each other, drawn without smoothing.
import { useEffect, useRef } from 'react';

import { Picture } from './looking';

export interface PixelsProps {
  picture: Picture;
  columns: number;
  /** How many tiles at most. */
  most?: number;
  label: string;
}

const GAP = 1;

export function Pixels({ picture, columns, most, label }: PixelsProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const tiles = Math.min(picture.tiles, most ?? picture.tiles);
  const across = Math.min(columns, tiles);
  const width = across * (picture.width + GAP) - GAP;
  const height = Math.ceil(tiles / across) * (picture.height + GAP) - GAP;
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) {
      return; // the page has no canvas: what the picture says is in its label
    }
    context.clearRect(0, 0, width, height);
    for (let tile = 0; tile < tiles; tile++) {
      const x = (tile % across) * (picture.width + GAP);
      const y = Math.floor(tile / across) * (picture.height + GAP);
      context.putImageData(tileOf(picture, tile), x, y);
    }
  }, [picture, tiles, across, width, height]);
  return (
    <canvas
      ref={canvas}
      className="labdl-pixels"
      width={width}
      height={height}
      role="img"
      aria-label={label}
      title={label}
    />
  );
}

function tileOf(picture: Picture, tile: number): ImageData {
  const { width, height, colours, data } = picture;
  const bytes = atob(data);
  const image = new ImageData(width, height);
  const start = tile * width * height * colours;
  for (let pixel = 0; pixel < width * height; pixel++) {
    for (let colour = 0; colour < 3; colour++) {
      image.data[pixel * 4 + colour] = bytes.charCodeAt(
        start + pixel * colours + (colours === 3 ? colour : 0)
      );
    }
    image.data[pixel * 4 + 3] = 255;
  }
  return image;
}
