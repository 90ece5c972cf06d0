// Exponential moving averages over a stream, whose width grows with its length.

export const SMOOTHINGS = ['none', 'less', 'normal', 'more'] as const;
export type Smoothing = (typeof SMOOTHINGS)[number];

interface Width {
  /** Window as a fraction of the points so far, so that the curve is equally smooth at any length. */
  readonly part: number;
  readonly narrowest: number;
  readonly widest: number;
}

export const WIDTHS: Record<Exclude<Smoothing, 'none'>, Width> = {
  less: { part: 1 / 100, narrowest: 2, widest: 200 },
  normal: { part: 1 / 20, narrowest: 3, widest: 1000 },
  more: { part: 1 / 6, narrowest: 6, widest: 10_000 }
};

/** From this weight on, the bias of the start is negligible. */
const SETTLED = 1 - 1e-9;

export class Smoother {
  private _count = 0;
  private _sum = 0;
  private _weight = 0;

  constructor(private readonly _width: Width = WIDTHS.normal) {}

  /**
   * Writes the averages of the values in [from, to) to the same indices of `into`. A value that is not finite gives NaN
   * (a gap in the line) and does not change the average.
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
      // Dividing by the weight so far removes the bias toward the initial zero.
      weight += (1 - weight) * share;
      into[i] = sum / weight;
    }
    [this._count, this._sum, this._weight] = [count, sum, weight];
  }

  /** Continues from an average of `count` points. */
  resume(average: number, count: number): void {
    this._count = count;
    this._weight = Number.isFinite(average) ? 1 : 0;
    this._sum = this._weight ? average : 0;
  }
}
