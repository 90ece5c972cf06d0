// Exponential moving average over a stream, wider the longer the stream has been.

/** The average looks back over a twentieth of the points so far: at any length it follows the curve and is calm. */
const PART = 1 / 20;
const NARROWEST = 3;
const WIDEST = 1000;

export class Smoother {
  private _count = 0;
  private _sum = 0;
  private _weight = 0;

  /** A value that is not finite gives NaN (a gap in the line) and leaves the average as it was. */
  next(value: number): number {
    this._count++;
    if (!Number.isFinite(value)) {
      return NaN;
    }
    const width = Math.min(WIDEST, Math.max(NARROWEST, this._count * PART));
    this._sum += (value - this._sum) / width;
    // The weight given so far: dividing by it takes away the pull towards the zero from which the sum began.
    this._weight += (1 - this._weight) / width;
    return this._sum / this._weight;
  }
}
