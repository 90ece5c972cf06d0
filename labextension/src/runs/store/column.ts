// An append-only column of numbers whose views stay valid while it grows.

export class Column {
  private _buffer = new Float64Array(64);
  private _length = 0;

  get length(): number {
    return this._length;
  }

  get last(): number | undefined {
    return this._length ? this._buffer[this._length - 1] : undefined;
  }

  push(value: number): void {
    if (this._length === this._buffer.length) {
      const larger = new Float64Array(this._buffer.length * 2);
      larger.set(this._buffer);
      this._buffer = larger;
    }
    this._buffer[this._length++] = value;
  }

  /** View without a copy: later values are appended after its end. */
  view(): Float64Array {
    return this._buffer.subarray(0, this._length);
  }
}

/** The first index whose value is at least `value`, in an ascending array. */
export function lowerBound(values: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** Index of the step nearest to `step`, or -1 for an empty curve. */
export function nearest(x: ArrayLike<number>, step: number): number {
  const after = lowerBound(x, step);
  if (after === 0) {
    return x.length ? 0 : -1;
  }
  if (after === x.length) {
    return after - 1;
  }
  return step - x[after - 1] <= x[after] - step ? after - 1 : after;
}
