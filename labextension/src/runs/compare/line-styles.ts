// Line styles of runs: colors that color-blind people can distinguish, then dashes.

export interface Look {
  readonly color: string;
  readonly dash: readonly number[];
}

const COLORS = 8;
const DASHES: readonly (readonly number[])[] = [
  [],
  [8, 4],
  [2, 3],
  [10, 3, 2, 3]
];

/** Style of the run at an index. The style sheet defines the colors, for light and dark themes. */
export function look(
  place: number,
  dash: number = Math.floor(place / COLORS)
): Look {
  return {
    color: `var(--labdl-run-${place % COLORS})`,
    dash: DASHES[dash % DASHES.length]
  };
}

/** Value of a color that is a CSS variable, which a canvas cannot read. */
export function resolveLook(element: Element, color: string): string {
  const name = /^var\((.+)\)$/.exec(color)?.[1];
  return name
    ? getComputedStyle(element).getPropertyValue(name).trim() || '#888'
    : color;
}

/**
 * Indices of line styles for runs. A run keeps its style while others are added and removed.
 */
export class Looks {
  private readonly _places = new Map<string, number>();

  of(paths: readonly string[]): ReadonlyMap<string, Look> {
    const drawn = new Set(paths);
    for (const path of this._places.keys()) {
      if (!drawn.has(path)) {
        this._places.delete(path);
      }
    }
    const taken = new Set(this._places.values());
    let free = 0;
    for (const path of paths) {
      if (!this._places.has(path)) {
        while (taken.has(free)) {
          free++;
        }
        taken.add(free);
        this._places.set(path, free);
      }
    }
    return new Map(
      paths.map(path => [path, look(this._places.get(path) ?? 0)])
    );
  }
}
