// Marks on the curves: commands and alerts.

import type { RunEvent, StartEvent } from './source';
import { text } from './bounds';
import type { Reducer } from './reducer';

export type MarkKind =
  | 'learning_rate'
  | 'epochs'
  | 'checkpoint'
  | 'branch'
  | 'paused'
  | 'running'
  | 'stopping'
  | 'step'
  | 'resumed'
  | 'begun'
  | 'alert';

export interface Mark {
  readonly kind: MarkKind;
  readonly step: number;
  /** Unix seconds. */
  readonly time: number;
  readonly level: 'plain' | 'warning' | 'error';
  /** Learning rate, number of epochs, name of the branch or parent run, or message of an alert. */
  readonly value: number | string | null;
  /** Of an alert, for its translation. */
  readonly template?: string | null;
  readonly values?: readonly string[];
}

const MOST = 500;

export class Marks implements Reducer<readonly Mark[]> {
  apply(event: RunEvent): void {
    const { time } = event;
    switch (event.kind) {
      case 'start':
        this._begin(event);
        break;
      case 'steps':
        if (event.step.length) {
          this._step = event.step[event.step.length - 1];
        }
        break;
      case 'epoch':
        this._step = Math.max(this._step, event.step);
        break;
      case 'status':
        this._put(event.status, event.step ?? this._step, time);
        break;
      case 'learning_rate':
        this._put('learning_rate', event.step, time, event.value);
        break;
      case 'epochs':
        this._put('epochs', event.step ?? this._step, time, event.epochs);
        break;
      case 'checkpoint':
        if (!event.automatic) {
          this._put('checkpoint', event.step, time);
        }
        break;
      case 'branch':
        this._put('branch', event.step, time, text(event.id, 200));
        break;
      case 'command':
        if (event.command === 'step' && event.status === 'done') {
          this._put('step', event.step ?? this._step, time);
        }
        break;
      case 'alert':
        this._add({
          kind: 'alert',
          step: event.step,
          time,
          level: event.level ?? 'warning',
          value: text(event.message),
          template: event.template && text(event.template),
          values: event.values?.slice(0, 9).map(value => text(value))
        });
        break;
    }
  }

  view(): readonly Mark[] {
    return this._marks;
  }

  private _begin({ step = 0, time, parent }: StartEvent): void {
    const isFirst = this._step === 0;
    this._step = step;
    this._marks = this._marks.filter(mark => mark.step <= step);
    if (step > 0 && isFirst && parent) {
      this._put('begun', step, time, text(parent.id, 200));
    } else if (step > 0) {
      this._put('resumed', step, time);
    }
  }

  private _put(
    kind: MarkKind,
    step: number,
    time: number,
    value: number | string | null = null
  ): void {
    this._add({ kind, step, time, level: 'plain', value });
  }

  private _add(mark: Mark): void {
    const isKnown = this._marks.some(
      ({ kind, step, value }) =>
        kind === mark.kind && step === mark.step && value === mark.value
    );
    if (!isKnown) {
      this._marks = [...this._marks, mark].slice(-MOST);
    }
  }

  private _marks: readonly Mark[] = [];
  private _step = 0;
}
