// A growing curve in bounded memory: it gets coarser, but keeps its extremes.

import { lowerBound } from './column';
import type { Curve } from './decimation';
import { Smoother, WIDTHS, type Smoothing } from './smoothing';

/** Maximum number of points of one curve. */
export const MOST = 2 ** 17;
const FIRST = 256;
const LEVELS = ['less', 'normal', 'more'] as const;

/**
 * Points are stored in buckets of equal size (2, 4, 8 …) over the whole curve. Each bucket keeps its minimum and
 * maximum, in their order. When the arrays are full, buckets are merged pairwise. The last, incomplete bucket is stored
 * raw. Smoothing applies to the raw stream and is stored at the same points.
 *
 * The returned arrays are views that are valid until the next change: get new ones for each drawing.
 */
export class Series implements Curve {
  constructor(
    options: { readonly smoothed?: boolean; readonly most?: number } = {}
  ) {
    this._most = options.most ?? MOST;
    this._smoothers = options.smoothed
      ? LEVELS.map(level => new Smoother(WIDTHS[level]))
      : [];
    this._columns = this._smoothers.map(() => new Float32Array(FIRST));
    this._lasts = this._smoothers.map(() => NaN);
  }

  get length(): number {
    return this._length;
  }

  /** Number of points of the stream for two stored points. */
  get stride(): number {
    return this._stride;
  }

  get x(): Float64Array {
    return this._x.subarray(0, this._length);
  }

  get y(): Float64Array {
    return this._y.subarray(0, this._length);
  }

  /** Smoothed values of the stored points; the raw ones where the curve is not smoothed. */
  smooth(level: Smoothing): Float32Array | Float64Array {
    const column = this._columns[LEVELS.indexOf(level as 'less')];
    return column ? column.subarray(0, this._length) : this.y;
  }

  get lastX(): number | undefined {
    return this._length ? this._lastX : undefined;
  }

  /** Last value of the stream; undefined for an empty one. */
  last(level: Smoothing = 'none'): number | undefined {
    const place = LEVELS.indexOf(level as 'less');
    return this._length ? (this._lasts[place] ?? this._lastY) : undefined;
  }

  /** Adds points; null is a value that is not finite. Points that do not come after the last one are ignored. */
  push(xs: ArrayLike<number>, ys: ArrayLike<number | null>): void {
    const count = Math.min(xs.length, ys.length);
    for (let i = 0; i < count;) {
      if (this._length === this._x.length) {
        this._makeRoom();
      }
      i = this._append(xs, ys, i, count);
      this._close();
    }
  }

  add(x: number, y: number | null): void {
    this.push([x], [y]);
  }

  /** Drops the points after `x`. */
  cut(x: number): void {
    const before = lowerBound(this.x, x);
    const length = before + (this._x[before] === x ? 1 : 0);
    if (length >= this._length) {
      return;
    }
    const full = Math.min(this._buckets, length >> 1);
    this._waiting =
      full < this._buckets
        ? length - 2 * full
        : Math.max(length - 2 * full, this._waiting - (this._length - length));
    this._buckets = full;
    this._length = length;
    this._lastX = length ? this._x[length - 1] : -Infinity;
    this._lastY = length ? this._y[length - 1] : NaN;
    this._smoothers.forEach((smoother, k) => {
      this._lasts[k] = length ? this._columns[k][length - 1] : NaN;
      smoother.resume(this._lasts[k], (length * this._stride) / 2);
    });
  }

  /** Appends points from `i` on until there is no room; returns the index of the first remaining one. */
  private _append(
    xs: ArrayLike<number>,
    ys: ArrayLike<number | null>,
    i: number,
    count: number
  ): number {
    const [x, y, from] = [this._x, this._y, this._length];
    let at = from;
    let last = this._lastX;
    for (; i < count && at < x.length; i++) {
      const place = xs[i];
      if (place > last) {
        const value = ys[i] as number;
        x[at] = last = place;
        // values that are not finite, null included (null − null is 0), are gaps
        y[at++] = value !== null && value - value === 0 ? value : NaN;
      }
    }
    if (at > from) {
      this._smoothers.forEach((smoother, k) => {
        smoother.fill(y, this._columns[k], from, at);
        this._lasts[k] = this._columns[k][at - 1];
      });
      [this._lastX, this._lastY] = [last, y[at - 1]];
      this._length = at;
      this._waiting += at - from;
    }
    return i;
  }

  private _makeRoom(): void {
    const room = this._x.length;
    if (room < this._most) {
      const larger = Math.min(this._most, room * 2);
      this._x = grown(this._x, new Float64Array(larger));
      this._y = grown(this._y, new Float64Array(larger));
      this._columns = this._columns.map(column =>
        grown(column, new Float32Array(larger))
      );
    } else if (this._buckets > 1) {
      this._merge();
    } else {
      const from = 2 * this._buckets;
      this._reduce(from, this._length, from);
      this._length = from + 2;
    }
  }

  private _merge(): void {
    const pairs = this._buckets >> 1;
    for (let pair = 0; pair < pairs; pair++) {
      this._reduce(4 * pair, 4 * pair + 4, 2 * pair);
    }
    // An odd bucket becomes the beginning of the incomplete one.
    if (this._buckets % 2) {
      this._waiting += this._stride;
    }
    const rest = 4 * pairs;
    for (const column of [this._x, this._y, ...this._columns]) {
      column.copyWithin(2 * pairs, rest, this._length);
    }
    this._length -= rest - 2 * pairs;
    this._buckets = pairs;
    this._stride *= 2;
  }

  /** Turns new points into buckets, as far as these are complete. */
  private _close(): void {
    if (this._stride === 2) {
      this._buckets += this._waiting >> 1; // both points of a bucket are kept
      this._waiting %= 2;
      return;
    }
    let to = 2 * this._buckets;
    let from = to;
    while (this._waiting >= this._stride) {
      // all pending points are raw, except perhaps the beginning of the first of these buckets
      const next = this._length - (this._waiting - this._stride);
      this._reduce(from, next, to);
      from = next;
      to += 2;
      this._waiting -= this._stride;
      this._buckets++;
    }
    if (to < from) {
      for (const column of [this._x, this._y, ...this._columns]) {
        column.copyWithin(to, from, this._length);
      }
      this._length -= from - to;
    }
  }

  /** Stores the minimum and maximum of the points in [from, to) at index `at`, which is not after `from`. */
  private _reduce(from: number, to: number, at: number): void {
    const y = this._y;
    let low = -1;
    let high = -1;
    for (let i = from; i < to; i++) {
      const value = y[i];
      if (value === value) {
        low = low < 0 || value < y[low] ? i : low;
        high = high < 0 || value >= y[high] ? i : high;
      }
    }
    if (low < 0) {
      // no finite value: a gap over the whole bucket
      [low, high] = [from, to - 1];
    } else if (low === high) {
      // a single finite value: keep one of the others as a gap beside it
      high = low > from ? from : to - 1;
    }
    this._move(Math.min(low, high), at);
    this._move(Math.max(low, high), at + 1);
  }

  private _move(from: number, to: number): void {
    if (from === to) {
      return;
    }
    this._x[to] = this._x[from];
    this._y[to] = this._y[from];
    for (const column of this._columns) {
      column[to] = column[from];
    }
  }

  private readonly _most: number;
  private readonly _smoothers: Smoother[];
  private _x = new Float64Array(FIRST);
  private _y = new Float64Array(FIRST);
  /** Smoothed values by level. */
  private _columns: Float32Array[];
  private _lasts: number[];
  private _lastX = -Infinity;
  private _lastY = NaN;
  private _length = 0;
  /** Number of complete buckets, of two points each, at the beginning of the columns. */
  private _buckets = 0;
  private _stride = 2;
  /** Number of points of the stream in the incomplete bucket. */
  private _waiting = 0;
}

function grown<T extends Float32Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
