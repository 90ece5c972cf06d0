// Moments of a run, at most so many of them, spread evenly: when there are too many, every second one goes.

export class BoundedList<T> {
  /** `at` says when a moment was: a step, or a time. */
  constructor(
    private readonly _most: number,
    private readonly _at: (moment: T) => number
  ) {}

  /** A moment that does not come after the last one is left out. */
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
    // one place is for the latest, which is always there
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

  /** The oldest first; the same array until something has changed. */
  items(): readonly T[] {
    this._items ??= this._latest
      ? [...this._kept, this._latest]
      : [...this._kept];
    return this._items;
  }

  /** Forgets what lies behind. */
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
