// Pages of samples on demand: those in view are requested, those out of view are given up, the latest are kept.

import type { SamplesAnswer, SampleView } from '../../api/data';
import { errorText } from '../error-text';

/** Samples of one request. */
export const PAGE = 48;
/** Pages that are kept after they were in view. */
const KEPT = 40;
/** Requests at a time: more would wait for each other in the server. */
const PARALLEL = 2;
/** Milliseconds between looks at what is in view, while it moves. */
const INTERVAL = 80;

export type RequestPage = (
  start: number,
  count: number,
  signal: AbortSignal
) => Promise<SamplesAnswer>;

export class SamplePages {
  constructor(
    private readonly _request: RequestPage,
    total: number | null
  ) {
    this._total = total;
  }

  /** Number of samples; null until the first answer tells it. */
  get total(): number | null {
    return this._total;
  }

  /** Why samples in view are missing. */
  get problem(): string | null {
    return this._problem;
  }

  /** Changes with each answer. */
  readonly version = (): number => this._version;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  /** The sample at a position, undefined until it has arrived. */
  at(position: number): SampleView | undefined {
    return this._pages.get(Math.floor(position / PAGE))?.[position % PAGE];
  }

  /** Says which positions are in view. */
  show(first: number, last: number): void {
    this._wanted = [Math.floor(first / PAGE), Math.floor(last / PAGE)];
    if (this._timer === undefined && !this._isDisposed) {
      this._update();
      this._timer = setTimeout(() => {
        this._timer = undefined;
        this._update();
      }, INTERVAL);
    }
  }

  /** Requests again what could not be read. */
  retry(): void {
    this._failed.clear();
    this._problem = null;
    this._update();
    this._emit();
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._timer);
    this._running.forEach(controller => controller.abort());
    this._listeners.clear();
  }

  private _update(): void {
    const [first, last] = this._wanted;
    this._running.forEach((controller, page) => {
      if (page < first - 1 || page > last + 1) {
        controller.abort();
        this._running.delete(page);
      }
    });
    // what is in view, then what comes next
    for (let page = first; page <= last + 1; page++) {
      const isBehindEnd = this._total !== null && page * PAGE >= this._total;
      if (this._running.size >= PARALLEL || (page > 0 && isBehindEnd)) {
        return;
      }
      if (
        !this._pages.has(page) &&
        !this._running.has(page) &&
        !this._failed.has(page)
      ) {
        void this._load(page);
      }
    }
  }

  private async _load(page: number): Promise<void> {
    const controller = new AbortController();
    this._running.set(page, controller);
    try {
      const answer = await this._request(page * PAGE, PAGE, controller.signal);
      if (controller.signal.aborted) {
        return;
      }
      this._total = answer.total;
      this._pages.set(page, answer.samples);
      this._forget();
    } catch (error) {
      if (controller.signal.aborted) {
        return;
      }
      this._failed.add(page);
      this._problem = errorText(error);
    }
    this._running.delete(page);
    this._update();
    this._emit();
  }

  private _forget(): void {
    const [first, last] = this._wanted;
    for (const page of this._pages.keys()) {
      if (this._pages.size <= KEPT) {
        return;
      }
      if (page < first - 1 || page > last + 1) {
        this._pages.delete(page);
      }
    }
  }

  private _emit(): void {
    this._version += 1;
    this._listeners.forEach(listener => listener());
  }

  private readonly _pages = new Map<number, SampleView[]>();
  private readonly _running = new Map<number, AbortController>();
  private readonly _failed = new Set<number>();
  private readonly _listeners = new Set<() => void>();
  private _wanted: [number, number] = [0, 0];
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _total: number | null;
  private _problem: string | null = null;
  private _version = 0;
  private _isDisposed = false;
}
