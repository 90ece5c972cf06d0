// Which run trains which document: panels that train say so, editors follow.

import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import type { RunEvent, RunSource } from '../../runs/store/source';

/** Something that trains a document, now or earlier. */
export interface TrainsDocument extends IDisposable {
  readonly path: string;
  readonly source: RunSource | null;
  readonly stateChanged: ISignal<object, unknown>;
}

export class TrainingRuns {
  /** Know of it until it is disposed of. */
  add(training: TrainsDocument): void {
    this._trainings = this._trainings.filter(other => !other.isDisposed);
    this._trainings.push(training);
    training.stateChanged.connect(this._tell, this);
    this._tell();
  }

  /** The run of a document; null if nothing here trains it. */
  of(path: string): RunSource | null {
    const all = this._trainings.filter(
      training => training.path === path && !training.isDisposed
    );
    return all[all.length - 1]?.source ?? null;
  }

  /** Hear the events of the run of a document, and of each that takes its place; returns the end of that. */
  follow(
    path: () => string,
    hear: (events: readonly RunEvent[]) => void
  ): () => void {
    let source: RunSource | null = null;
    let leave: (() => void) | undefined;
    const look = () => {
      const next = this.of(path());
      // the last run stays to be seen when its panel is closed
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

  private _tell(): void {
    this._changed.emit();
  }

  private _trainings: TrainsDocument[] = [];
  private readonly _changed = new Signal<this, void>(this);
}
