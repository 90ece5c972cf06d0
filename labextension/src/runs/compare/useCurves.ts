// Live curves of several runs, followed while they are drawn.

import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { RunCurves } from './curves';
import type { RunsSource } from './runs-source';

/** Milliseconds between two updates. */
const PACE = 150;

export type CurvesByPath = ReadonlyMap<string, RunCurves>;

/** Curves by path; a new map on each update, with the same curve objects. */
export function useCurves(
  source: RunsSource,
  paths: readonly string[]
): CurvesByPath {
  const followers = useMemo(() => new Followers(source), [source]);
  useEffect(() => followers.follow(paths), [followers, paths.join('\n')]);
  useEffect(() => () => followers.follow([]), [followers]);
  return useSyncExternalStore(followers.subscribe, followers.curves);
}

class Followers {
  constructor(private readonly _source: RunsSource) {}

  subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => {
      this._listeners.delete(listener);
    };
  };

  curves = (): CurvesByPath => this._shown;

  /** Follows these runs. Runs that were followed before keep their curves. */
  follow(paths: readonly string[]): void {
    for (const [path, { end }] of this._followed) {
      if (!paths.includes(path)) {
        end();
        this._followed.delete(path);
      }
    }
    for (const path of paths) {
      if (!this._followed.has(path)) {
        const curves = new RunCurves();
        const one = { curves, end: () => undefined as void };
        this._followed.set(path, one);
        one.end = this._source.run(path).subscribe(events => {
          events.forEach(event => curves.apply(event));
          this._scheduleUpdate();
        });
      }
    }
    this._scheduleUpdate();
  }

  private _scheduleUpdate(): void {
    this._timer ??= setTimeout(() => {
      this._timer = null;
      this._shown = new Map(
        [...this._followed].map(([path, { curves }]) => [path, curves])
      );
      this._listeners.forEach(listener => listener());
    }, PACE);
  }

  private readonly _followed = new Map<
    string,
    { curves: RunCurves; end: () => void }
  >();
  private readonly _listeners = new Set<() => void>();
  private _shown: CurvesByPath = new Map();
  private _timer: ReturnType<typeof setTimeout> | null = null;
}
