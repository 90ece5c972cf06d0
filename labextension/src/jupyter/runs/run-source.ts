// Events of a run from its folder through the server, independent of the kernel.

import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import type {
  CommandValue,
  RunCode,
  RunCommand,
  RunListener,
  RunSource
} from '../../runs/store/source';
import type { LabDLApi } from '../requests';

export class LabRunSource implements RunSource, IDisposable {
  constructor(
    readonly path: string,
    private readonly api: LabDLApi
  ) {}

  /** Whether a process works on this run; null until the server has answered. */
  get live(): boolean | null {
    return this._live;
  }

  /** Emitted when `live` changes. */
  get liveChanged(): ISignal<this, void> {
    return this._liveChanged;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._ends.forEach(end => end());
      this._ends.clear();
      Signal.clearData(this);
    }
  }

  subscribe(listener: RunListener): () => void {
    let isStarted = false;
    const unfollow = this.api.runs.follow(this.path, (events, alive) => {
      isStarted = isStarted || events.length > 0;
      // A folder without a run may get one; one that had a run was deleted.
      if (alive !== null || isStarted) {
        listener(events, alive);
        this._setLive(alive ?? false);
      }
    });
    const end = () => {
      unfollow();
      this._ends.delete(end);
    };
    this._ends.add(end);
    return end;
  }

  async command(
    name: RunCommand,
    value?: CommandValue,
    id?: string
  ): Promise<void> {
    await this.api.control(this.path, name, value, id);
  }

  code(): Promise<RunCode> {
    return this.api.runCode(this.path);
  }

  private _setLive(live: boolean): void {
    if (live !== this._live) {
      this._live = live;
      this._liveChanged.emit();
    }
  }

  private readonly _ends = new Set<() => void>();
  private _liveChanged = new Signal<this, void>(this);
  private _live: boolean | null = null;
  private _isDisposed = false;
}
