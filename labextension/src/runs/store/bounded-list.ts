// Bounded list of moments of a run, spread evenly: when it is full, every second one is dropped.

export class BoundedList<T> {
  /** `at` returns the step or time of a moment. */
  constructor(
    private readonly _most: number,
    private readonly _at: (moment: T) => number
  ) {}

  /** Adds a moment; ignores one that is not later than the last. */
  push(moment: T): void {
    const before = this._latest ?? this._kept[this._kept.length - 1];
    if (before && this._at(moment) <= this._at(before)) {
      return;
    }
    this._latest = null;
    if (this._seen++ % this._stride) {
      this._latest = moment;
    } else {
      this._kept.push(moment);
    }
    // one place is reserved for the latest, which is always included
    while (this._kept.length >= this._most) {
      this._kept = this._kept.filter((_, index) => index % 2 === 0);
      this._stride *= 2;
      this._latest ??= moment;
    }
    if (this._kept[this._kept.length - 1] === this._latest) {
      this._latest = null;
    }
    this._items = null;
  }

  /** Moments, oldest first; the same array until the next change. */
  items(): readonly T[] {
    this._items ??= this._latest
      ? [...this._kept, this._latest]
      : [...this._kept];
    return this._items;
  }

  /** Drops the moments after `at`. */
  cut(at: number): void {
    const isKept = (moment: T) => this._at(moment) <= at;
    this._kept = this._kept.filter(isKept);
    this._latest = this._latest && isKept(this._latest) ? this._latest : null;
    this._items = null;
    if (!this._kept.length) {
      this.clear();
    }
  }

  clear(): void {
    this._kept = [];
    this._latest = null;
    this._stride = 1;
    this._seen = 0;
    this._items = null;
  }

  private _kept: T[] = [];
  private _latest: T | null = null;
  private _stride = 1;
  private _seen = 0;
  private _items: readonly T[] | null = null;
}
