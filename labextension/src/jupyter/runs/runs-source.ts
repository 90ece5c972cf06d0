// Runs of a folder from the server, polled once per second while there are listeners; answers contain changes only.

import { PathExt } from '@jupyterlab/coreutils';
import { IDisposable } from '@lumino/disposable';
import { Poll } from '@lumino/polling';

import type {
  About,
  Brief,
  Group,
  Runs,
  RunsListener,
  RunsSource
} from '../../runs/compare/runs-source';
import type { RunEvent, RunSource } from '../../runs/store/source';
import type { RunsAnswer } from '../../api/runs';
import type { LabDLApi } from '../requests';

// milliseconds between two requests
const WATCHED = 1000;
const SILENT = 10_000;
/** Kinds of events that the comparison of runs needs. */
const KINDS: readonly RunEvent['kind'][] = ['start', 'steps', 'epoch', 'status', 'pace', 'system', 'end']; // prettier-ignore

export class LabRunsSource implements RunsSource, IDisposable {
  constructor(
    readonly folder: string,
    private readonly _api: LabDLApi,
    private readonly _open: (path: string, isFolder: boolean) => void
  ) {
    this._poll = new Poll({
      auto: false,
      factory: () => this._request(),
      frequency: { interval: WATCHED, backoff: true, max: SILENT },
      name: `labdl:runs:${folder}`,
      standby: 'when-hidden'
    });
  }

  get isDisposed(): boolean {
    return this._poll.isDisposed;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._poll.dispose();
      this._listeners.clear();
    }
  }

  subscribe(listener: RunsListener): () => void {
    this._listeners.add(listener);
    if (this._token) {
      listener.runs(this._snapshot());
    }
    this._updatePolling();
    return () => {
      this._listeners.delete(listener);
      this._updatePolling();
    };
  }

  run(path: string): RunSource {
    const full = this._fullPath(path);
    return {
      subscribe: listener =>
        this._api.runs.follow(
          full,
          (events, alive) => listener(events, alive ?? false),
          KINDS
        ),
      command: (name, value, id) => this._api.control(full, name, value, id)
    };
  }

  async write(
    path: string,
    words: Partial<About>,
    before: Partial<About>
  ): Promise<About | null> {
    const { done, about } = await this._api.writeAbout(
      this._fullPath(path),
      words,
      before
    );
    const run = this._runs.get(path);
    if (run) {
      this._runs.set(path, { ...run, ...about });
      this._notify();
    }
    return done ? null : about;
  }

  async remove(path: string): Promise<void> {
    await this._api.removeRun(this._fullPath(path));
    this._runs.delete(path);
    this._notify();
  }

  open(path: string): void {
    this._open(this._fullPath(path), false);
  }

  openFolder(path: string): void {
    this._open(this._fullPath(path), true);
  }

  /** Stops polling while the view is hidden. */
  setVisible(visible: boolean): void {
    this._isVisible = visible;
    this._updatePolling();
  }

  private _updatePolling(): void {
    if (!this.isDisposed) {
      const isWatched = this._isVisible && this._listeners.size > 0;
      void (isWatched ? this._poll.refresh() : this._poll.stop());
    }
  }

  private async _request(): Promise<void> {
    try {
      const answer = await this._api.listRuns(this.folder, this._token);
      if (this.isDisposed) {
        return;
      }
      if (this._trouble !== null) {
        this._trouble = null;
        this._listeners.forEach(listener => listener.trouble(null));
      }
      this._token = answer.token;
      if (!answer.unchanged) {
        this._apply(answer);
      }
    } catch (error) {
      this._trouble = error instanceof Error ? error.message : `${error}`;
      this._listeners.forEach(listener => listener.trouble(this._trouble));
      throw error; // the poll backs off
    }
  }

  private _apply(answer: RunsAnswer): void {
    if (answer.whole) {
      this._runs.clear();
    }
    answer.gone?.forEach(path => this._runs.delete(path));
    answer.runs?.forEach(run => this._runs.set(run.path, run));
    this._group = answer.group ?? null;
    this._truncated = answer.truncated ?? null;
    this._notify();
  }

  private _notify(): void {
    const now = this._snapshot();
    this._listeners.forEach(listener => listener.runs(now));
  }

  private _snapshot(): Runs {
    return {
      folder: this.folder,
      runs: [...this._runs.values()],
      group: this._group,
      truncated: this._truncated
    };
  }

  /** Full path of a run; "." is the folder itself. */
  private _fullPath(path: string): string {
    return path === '.' ? this.folder : PathExt.join(this.folder, path);
  }

  private readonly _poll: Poll;
  private readonly _listeners = new Set<RunsListener>();
  private readonly _runs = new Map<string, Brief>();
  private _group: Group | null = null;
  private _truncated: string | null = null;
  private _trouble: string | null = null;
  private _token = '';
  private _isVisible = true;
}
