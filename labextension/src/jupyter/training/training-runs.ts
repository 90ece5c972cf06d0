// Runs by document: Train panels register them, editors follow them.

import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import type { RunEvent, RunSource } from '../../runs/store/source';

/** Object that trains a document. */
export interface TrainsDocument extends IDisposable {
  readonly path: string;
  readonly source: RunSource | null;
  readonly stateChanged: ISignal<object, unknown>;
}

export class TrainingRuns {
  /** Registers it until it is disposed. */
  add(training: TrainsDocument): void {
    this._trainings = this._trainings.filter(other => !other.isDisposed);
    this._trainings.push(training);
    training.stateChanged.connect(this._emitChanged, this);
    this._emitChanged();
  }

  /** Run of a document; null if nothing here trains it. */
  of(path: string): RunSource | null {
    const all = this._trainings.filter(
      training => training.path === path && !training.isDisposed
    );
    return all[all.length - 1]?.source ?? null;
  }

  /** Sends events of a document's current run to `hear`, also after a new run; returns a function that unsubscribes. */
  follow(
    path: () => string,
    hear: (events: readonly RunEvent[]) => void
  ): () => void {
    let source: RunSource | null = null;
    let leave: (() => void) | undefined;
    const look = () => {
      const next = this.of(path());
      // the last run stays when its panel is closed
      if (next && next !== source) {
        leave?.();
        source = next;
        leave = next.subscribe(events => hear(events));
      }
    };
    this._changed.connect(look);
    look();
    return () => {
      this._changed.disconnect(look);
      leave?.();
    };
  }

  private _emitChanged(): void {
    this._changed.emit();
  }

  private _trainings: TrainsDocument[] = [];
  private readonly _changed = new Signal<this, void>(this);
}
