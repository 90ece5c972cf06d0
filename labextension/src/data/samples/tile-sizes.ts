// Sizes of the tiles in the grid of samples.

export type TileSize = 'small' | 'medium' | 'large';

export const TILE_SIZES: readonly TileSize[] = ['small', 'medium', 'large'];

/** Least width of a tile in pixels. */
export const TILE_WIDTH: Record<TileSize, number> = {
  small: 80,
  medium: 132,
  large: 216
};

/** Pixels between tiles. */
export const GAP = 8;
/** Height of the words under a picture. */
export const WORDS = 22;

export interface Layout {
  columns: number;
  /** Width and height of a picture. */
  side: number;
  /** Height of a row with the gap below it. */
  row: number;
}

/** Columns that fill a width with tiles of at least a size. */
export function layoutOf(width: number, size: TileSize): Layout {
  const least = TILE_WIDTH[size];
  const columns = Math.max(1, Math.floor((width + GAP) / (least + GAP)));
  const side = Math.floor((width - GAP * (columns - 1)) / columns);
  return { columns, side, row: side + WORDS + GAP };
}

/** Longest side of the pictures to request, for sharp pictures on dense screens. */
export function pictureSize(size: TileSize, density: number): number {
  return Math.min(
    512,
    Math.ceil(TILE_WIDTH[size] * 1.25 * Math.min(2, density))
  );
}
