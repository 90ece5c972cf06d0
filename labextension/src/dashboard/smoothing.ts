// Exponential moving average over a stream, without the pull towards zero of its first values.

export class Smoother {
  private _sum = 0;
  private _weight = 0;

  /** `width`: over about how many points to average. */
  constructor(width: number) {
    this._keep = 1 - 1 / Math.max(1, width);
  }

  /** A value that is not finite gives NaN (a gap in the line) and leaves the average as it was. */
  next(value: number): number {
    if (!Number.isFinite(value)) {
      return NaN;
    }
    this._sum = this._sum * this._keep + value * (1 - this._keep);
    this._weight = this._weight * this._keep + (1 - this._keep);
    return this._sum / this._weight;
  }

  private readonly _keep: number;
}

/** About a fiftieth of the run, so that curves look alike whether they have a hundred steps or a hundred thousand. */
export function smoothingWidth(totalSteps: number | null): number {
  return totalSteps === null
    ? 20
    : Math.min(1000, Math.max(5, totalSteps / 50));
}
