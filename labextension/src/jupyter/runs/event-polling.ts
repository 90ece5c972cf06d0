// The events of all runs that a page follows, in one request that the server answers when there is something new.

import type { FollowRequest } from '../../api/runs';
import { IDisposable } from '@lumino/disposable';

import { unpack, type PackedEvent } from '../../runs/store/binary-events';
import type { BestEvent, RunEvent } from '../../runs/store/source';

/** Hears events in their order; `alive` is null as long as there is no run in the folder. */
export type EventListener = (
  events: readonly RunEvent[],
  alive: boolean | null
) => void;

/** What a request asks: what is known of each run, and how many seconds the server may wait for more. */
export interface FollowedRun {
  path: string;
  offset: number;
  alive: boolean | null;
  /** The file is another one than before. */
  reset: boolean;
  /** The best value of each metric so far, where epochs are among the events. */
  best: BestEvent['best'] | null;
  events: readonly RunEvent[];
}

/** As the server sends it. */
interface PackedRun extends Omit<FollowedRun, 'events'> {
  events: PackedEvent[];
  /** How much of what follows the header is of these. */
  bytes: number;
}

export type PollRequest = (
  question: FollowRequest,
  signal: AbortSignal
) => Promise<ArrayBuffer>;

/** Seconds, as the server has it. */
const LONGEST = 20;
/** And where there are more runs than it takes at a time. */
const BETWEEN_TURNS = 0.3;
/** As many as the server answers at a time. */
const MOST = 64;
/** Bytes of a run in an answer: about as many say that more waits behind them. */
const MORE_WAITS = 1024 * 1024;
// milliseconds until the next question when one has failed
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;

class Follower {
  offset = 0;
  alive: boolean | null = null;
  heard = false;

  constructor(
    readonly path: string,
    readonly hear: EventListener,
    readonly kinds?: readonly string[]
  ) {}
}

export class EventPolling implements IDisposable {
  private readonly _followers = new Set<Follower>();
  private _asking: AbortController | null = null;
  private _pause = FIRST_PAUSE;
  private _turn = 0;
  private _isDisposed = false;

  constructor(private readonly _ask: PollRequest) {
    document.addEventListener('visibilitychange', this._look);
    window.addEventListener('online', this._look);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    document.removeEventListener('visibilitychange', this._look);
    window.removeEventListener('online', this._look);
    this._followers.clear();
    this._asking?.abort();
  }

  /** Tells a run from its beginning, then what comes, if need be only events of these kinds; returns the end of that. */
  follow(
    path: string,
    hear: EventListener,
    kinds?: readonly string[]
  ): () => void {
    const follower = new Follower(path, hear, kinds);
    this._followers.add(follower);
    this._again();
    return () => {
      this._followers.delete(follower);
    };
  }

  /** Ask once more now: something is expected. */
  readonly refresh = (): void => this._again();

  private readonly _look = (): void => {
    if (document.hidden) {
      // A page that nobody sees asks nothing.
      this._asking?.abort();
    } else {
      this._pause = FIRST_PAUSE;
      this._again();
    }
  };

  /** The question under way does not know what has changed here: it is asked anew. */
  private _again(): void {
    this._asking?.abort();
    this._asking = null;
    if (!this._isDisposed && !document.hidden && this._followers.size) {
      const asking = new AbortController();
      this._asking = asking;
      void this._talk(asking.signal);
    }
  }

  private async _talk(signal: AbortSignal): Promise<void> {
    // Everybody who begins to follow in this moment is in the first question.
    await Promise.resolve();
    let wait = 0;
    while (!signal.aborted && this._followers.size) {
      try {
        let asked = this._next();
        let answer = await this._ask(question(asked, wait), signal);
        // While this page takes an answer in, the server makes the next one.
        while (!signal.aborted && this._followers.size) {
          this._pause = FIRST_PAUSE;
          const { tell, more } = this._taken(asked, answer);
          const all = asked.length === this._followers.size;
          asked = this._next();
          wait = more ? 0 : all ? LONGEST : BETWEEN_TURNS;
          const next = this._ask(question(asked, wait), signal);
          next.catch(() => undefined); // heard below
          tell();
          answer = await next;
        }
      } catch {
        if (signal.aborted) {
          return;
        }
        // The server restarts, or the computer was asleep; what was told stays on the screen until it answers again.
        await sleep(this._pause, signal);
        this._pause = Math.min(LONGEST_PAUSE, this._pause * 2);
        wait = 0;
      }
    }
  }

  /** Whom to ask for: all, or as many as the server takes, in turns. */
  private _next(): Follower[] {
    const all = [...this._followers];
    if (all.length <= MOST) {
      return all;
    }
    const from = (this._turn++ * MOST) % all.length;
    return [...all, ...all].slice(from, from + MOST);
  }

  /** What an answer has to tell, and whether more waits on the server. */
  private _taken(
    asked: readonly Follower[],
    answer: ArrayBuffer
  ): { tell: () => void; more: boolean } {
    let more = false;
    const news: (() => void)[] = [];
    unpackFollowed(answer).forEach((run, i) => {
      const events = [...run.events];
      const follower = asked[i];
      more = more || run.offset - follower.offset >= MORE_WAITS;
      if (run.reset) {
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

/** An answer: how long its header is, the header in JSON, and the columns behind it. */
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
  // Who has heard nothing yet must not wait for something to happen.
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
