// What the model makes of the validation data, epoch by epoch: samples that are watched, confusions, and the worst samples.

import type {
  RunEvent,
  SamplesEvent,
  ShownArray,
  ShownOutput,
  ShownTarget
} from './source';
import {
  fields,
  finite,
  list,
  names,
  shownInput,
  shownOutput,
  shownTarget,
  whole
} from './validate';
import type { Reducer } from './reducer';
import { BoundedList } from './bounded-list';

const KEPT = 100;
const SAMPLES = 64;
const CLASSES = 100;
const PAIRS = 1000;

export interface Sample {
  readonly index: number;
  readonly input: ShownArray;
  readonly target: ShownTarget;
}

export interface Predictions {
  readonly epoch: number;
  readonly step: number;
  readonly outputs: readonly ShownOutput[];
}

/** Either the whole matrix, or the most frequent mistakes as [true, predicted, count]. */
export interface Confusion {
  readonly epoch: number;
  readonly step: number;
  readonly counts: readonly (readonly number[])[] | null;
  readonly pairs: readonly (readonly [number, number, number])[];
}

export interface Worst {
  readonly epoch: number;
  readonly step: number;
  readonly samples: readonly (Sample & {
    readonly loss: number | null;
    readonly output: ShownOutput;
  })[];
}

export interface ValidationView {
  readonly task: SamplesEvent['task'] | null;
  readonly classes: readonly string[] | null;
  readonly samples: readonly Sample[];
  readonly predictions: readonly Predictions[];
  readonly confusions: readonly Confusion[];
  readonly worst: readonly Worst[];
}

export class Validation implements Reducer<ValidationView> {
  apply(event: RunEvent): void {
    switch (event.kind) {
      case 'start':
        [this._predictions, this._confusions, this._worst].forEach(moments =>
          moments.cut(event.step ?? 0)
        );
        break;
      case 'samples':
        this._told = told(event);
        break;
      case 'predictions':
        this._predictions.push({
          ...moment(event),
          outputs: list(event.outputs, SAMPLES).map(shownOutput)
        });
        break;
      case 'confusion':
        this._confusions.push({ ...moment(event), ...confused(event) });
        break;
      case 'worst':
        this._worst.push({
          ...moment(event),
          samples: list(event.samples, SAMPLES).map(value => {
            const { loss, output } = fields(value);
            return {
              ...sample(value),
              loss: finite(loss),
              output: shownOutput(output)
            };
          })
        });
        break;
      default:
        return;
    }
    this._view = null;
  }

  view(): ValidationView {
    this._view ??= {
      task: this._told?.task ?? null,
      classes: this._told?.classes ?? null,
      samples: this._told?.samples ?? [],
      predictions: this._predictions.items(),
      confusions: this._confusions.items(),
      worst: this._worst.items()
    };
    return this._view;
  }

  private _told: Pick<ValidationView, 'task' | 'classes' | 'samples'> | null =
    null;
  private readonly _predictions = new BoundedList<Predictions>(
    KEPT,
    ({ step }) => step
  );
  private readonly _confusions = new BoundedList<Confusion>(
    KEPT,
    ({ step }) => step
  );
  private readonly _worst = new BoundedList<Worst>(KEPT, ({ step }) => step);
  private _view: ValidationView | null = null;
}

function told(event: SamplesEvent) {
  const { task } = event;
  return {
    task: task === 'classification' || task === 'regression' ? task : 'other',
    classes: Array.isArray(event.classes) ? names(event.classes) : null,
    samples: list(event.samples, SAMPLES).map(sample)
  } as const;
}

function sample(value: unknown): Sample {
  const { index, input, target } = fields(value);
  return {
    index: whole(index) ?? 0,
    input: shownInput(input),
    target: shownTarget(target)
  };
}

function moment(event: { epoch: unknown; step: unknown }) {
  return { epoch: finite(event.epoch) ?? 0, step: finite(event.step) ?? 0 };
}

function confused(event: { counts?: unknown; pairs?: unknown }) {
  const rows = list(event.counts, CLASSES);
  const counts = rows.map(row =>
    Array.from({ length: rows.length }, (_, column) =>
      Math.max(0, finite(list(row)[column]) ?? 0)
    )
  );
  const pairs = list(event.pairs, PAIRS).flatMap(pair => {
    const [truth, predicted, count] = list(pair).map(whole);
    return truth === null || predicted === null || !count
      ? []
      : [[truth, predicted, count] as [number, number, number]];
  });
  return { counts: rows.length ? counts : null, pairs };
}
