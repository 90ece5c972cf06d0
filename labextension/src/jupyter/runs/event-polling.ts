// Long polling of the events of all runs that a page follows, in one request.

import type { FollowRequest } from '../../api/runs';
import { IDisposable } from '@lumino/disposable';

import { unpack, type PackedEvent } from '../../runs/store/binary-events';
import type { BestEvent, RunEvent } from '../../runs/store/source';

/** Receives events in order; `alive` is null while there is no run in the folder. */
export type EventListener = (
  events: readonly RunEvent[],
  alive: boolean | null
) => void;

/** New events of one run in an answer. */
export interface FollowedRun {
  path: string;
  offset: number;
  alive: boolean | null;
  /** Whether the file was replaced since the last answer. */
  reset: boolean;
  /** Best value of each metric so far, if epochs are among the events. */
  best: BestEvent['best'] | null;
  events: readonly RunEvent[];
}

/** Events of a run in the server's binary format. */
interface PackedRun extends Omit<FollowedRun, 'events'> {
  events: PackedEvent[];
  /** Size of their columns after the header. */
  bytes: number;
}

export type PollRequest = (
  question: FollowRequest,
  signal: AbortSignal
) => Promise<ArrayBuffer>;

/** Maximum seconds of a request, as on the server. */
const LONGEST = 20;
/** Seconds of a request if there are more runs than one request may contain. */
const BETWEEN_TURNS = 0.3;
/** Maximum number of runs in a request, as on the server. */
const MOST = 64;
/** An answer with this many bytes of a run was truncated by the server. */
const MORE_WAITS = 1024 * 1024;
// milliseconds before the next request after a failure
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;

class Follower {
  offset = 0;
  alive: boolean | null = null;
  heard = false;
  /** Whether the events that the listener has are of a file that is gone. */
  isOutdated = false;

  constructor(
    readonly path: string,
    readonly hear: EventListener,
    readonly kinds?: readonly string[]
  ) {}
}

export class EventPolling implements IDisposable {
  private readonly _followers = new Set<Follower>();
  private _controller: AbortController | null = null;
  private _pause = FIRST_PAUSE;
  private _turn = 0;
  private _isDisposed = false;

  constructor(private readonly _request: PollRequest) {
    document.addEventListener('visibilitychange', this._onVisibility);
    window.addEventListener('online', this._onVisibility);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    document.removeEventListener('visibilitychange', this._onVisibility);
    window.removeEventListener('online', this._onVisibility);
    this._followers.clear();
    this._controller?.abort();
  }

  /** Sends all events of a run, or those of some kinds, to `hear`; returns a function that unsubscribes. */
  follow(
    path: string,
    hear: EventListener,
    kinds?: readonly string[]
  ): () => void {
    const follower = new Follower(path, hear, kinds);
    this._followers.add(follower);
    this._restart();
    return () => {
      this._followers.delete(follower);
    };
  }

  /** Sends a new request now, when an event is expected. */
  readonly refresh = (): void => this._restart();

  private readonly _onVisibility = (): void => {
    if (document.hidden) {
      // Hidden pages send no requests.
      this._controller?.abort();
    } else {
      this._pause = FIRST_PAUSE;
      this._restart();
    }
  };

  /** Replaces the current request, which does not contain the latest followers. */
  private _restart(): void {
    this._controller?.abort();
    this._controller = null;
    if (!this._isDisposed && !document.hidden && this._followers.size) {
      const asking = new AbortController();
      this._controller = asking;
      void this._pollEvents(asking.signal);
    }
  }

  private async _pollEvents(signal: AbortSignal): Promise<void> {
    // Collects all followers that are added in the same task.
    await Promise.resolve();
    let wait = 0;
    while (!signal.aborted && this._followers.size) {
      try {
        let asked = this._nextFollowers();
        let answer = await this._request(question(asked, wait), signal);
        // The server works on the next answer while this page processes the last one.
        while (!signal.aborted && this._followers.size) {
          this._pause = FIRST_PAUSE;
          const { tell, more } = this._apply(asked, answer);
          const all = asked.length === this._followers.size;
          asked = this._nextFollowers();
          wait = more ? 0 : all ? LONGEST : BETWEEN_TURNS;
          const next = this._request(question(asked, wait), signal);
          next.catch(() => undefined); // handled by the await below
          tell();
          answer = await next;
        }
      } catch {
        if (signal.aborted) {
          return;
        }
        // The server restarts, or the computer was asleep; views keep their state until it answers again.
        await sleep(this._pause, signal);
        this._pause = Math.min(LONGEST_PAUSE, this._pause * 2);
        wait = 0;
      }
    }
  }

  /** Followers of the next request: all, or in turns as many as the server accepts. */
  private _nextFollowers(): Follower[] {
    const all = [...this._followers];
    if (all.length <= MOST) {
      return all;
    }
    const from = (this._turn++ * MOST) % all.length;
    return [...all, ...all].slice(from, from + MOST);
  }

  /** Updates the followers; returns a function that notifies them, and whether the server has more events. */
  private _apply(
    asked: readonly Follower[],
    answer: ArrayBuffer
  ): { tell: () => void; more: boolean } {
    let more = false;
    const news: (() => void)[] = [];
    unpackFollowed(answer).forEach((run, i) => {
      const events = [...run.events];
      const follower = asked[i];
      more = more || run.offset - follower.offset >= MORE_WAITS;
      follower.isOutdated = follower.isOutdated || run.reset;
      // Without a file the listener keeps what it has, until another run writes there.
      if (follower.isOutdated && run.alive !== null) {
        follower.isOutdated = false;
        events.unshift({ kind: 'reset', time: Date.now() / 1000 });
      }
      if (run.best && events.length) {
        const { time } = events[events.length - 1];
        events.push({ kind: 'best', time, best: run.best });
      }
      const changed = run.alive !== follower.alive || !follower.heard;
      follower.offset = run.offset;
      follower.alive = run.alive;
      follower.heard = true;
      if (events.length || changed) {
        news.push(() => {
          if (this._followers.has(follower)) {
            follower.hear(events, run.alive);
          }
        });
      }
    });
    return { tell: () => news.forEach(one => one()), more };
  }
}

/** Decodes an answer: length of the header, header in JSON, columns. */
export function unpackFollowed(answer: ArrayBuffer): FollowedRun[] {
  const length = new DataView(answer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(answer, 4, length));
  const { runs } = JSON.parse(text) as { runs: PackedRun[] };
  let at = Math.ceil((4 + length) / 4) * 4;
  return runs.map(({ bytes, ...run }) => {
    const events = unpack(run.events, [new DataView(answer, at, bytes)]);
    at += bytes;
    return { ...run, events };
  });
}

function question(followers: readonly Follower[], wait: number): FollowRequest {
  // New followers need an answer without waiting for new events.
  const first = followers.some(follower => !follower.heard);
  return {
    runs: followers.map(({ path, offset, alive, kinds }) => ({
      path,
      offset,
      alive,
      kinds: kinds && [...kinds]
    })),
    wait: first ? 0 : wait
  };
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
  });
}
