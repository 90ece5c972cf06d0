// Exponential moving averages over a stream, wider the longer the stream has been.

export const SMOOTHINGS = ['none', 'less', 'normal', 'more'] as const;
export type Smoothing = (typeof SMOOTHINGS)[number];

interface Width {
  /** The average looks back over this part of the points so far: at any length it follows the curve and is calm. */
  readonly part: number;
  readonly narrowest: number;
  readonly widest: number;
}

export const WIDTHS: Record<Exclude<Smoothing, 'none'>, Width> = {
  less: { part: 1 / 100, narrowest: 2, widest: 200 },
  normal: { part: 1 / 20, narrowest: 3, widest: 1000 },
  more: { part: 1 / 6, narrowest: 6, widest: 10_000 }
};

/** From this weight on there is nothing left of the beginning. */
const SETTLED = 1 - 1e-9;

export class Smoother {
  private _count = 0;
  private _sum = 0;
  private _weight = 0;

  constructor(private readonly _width: Width = WIDTHS.normal) {}

  /**
   * Writes the averages of the values in [from, to) to the same places of `into`. A value that is not finite gives NaN (a
   * gap in the line) and leaves the average as it was.
   */
  fill(
    values: ArrayLike<number>,
    into: { [place: number]: number },
    from: number,
    to: number
  ): void {
    const { part, narrowest, widest } = this._width;
    let [count, sum, weight] = [this._count, this._sum, this._weight];
    for (let i = from; i < to; i++) {
      const value = values[i];
      count++;
      if (value - value !== 0) {
        into[i] = NaN;
        continue;
      }
      const wide = count * part;
      if (wide > widest && weight > SETTLED) {
        into[i] = sum += (value - sum) / widest;
        continue;
      }
      const share =
        1 / (wide < narrowest ? narrowest : wide > widest ? widest : wide);
      sum += (value - sum) * share;
      // The weight given so far: dividing by it takes away the pull toward the zero from which the sum began.
      weight += (1 - weight) * share;
      into[i] = sum / weight;
    }
    [this._count, this._sum, this._weight] = [count, sum, weight];
  }

  /** Goes on from an average of so many points. */
  resume(average: number, count: number): void {
    this._count = count;
    this._weight = Number.isFinite(average) ? 1 : 0;
    this._sum = this._weight ? average : 0;
  }
}
