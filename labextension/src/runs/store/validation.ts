// Results on the validation data for each epoch: predictions of selected samples, confusions, and the worst samples.

import type {
  ConfusionEvent,
  RunEvent,
  SamplesEvent,
  ShownArray,
  ShownOutput,
  ShownTarget,
  WatchedSample
} from './source';
import { names, shownInput, shownOutput, shownTarget } from './bounds';
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

/** The whole matrix, or the most frequent mistakes as [true, predicted, count]. */
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
        this._info = sampleInfo(event);
        break;
      case 'predictions':
        this._predictions.push({
          ...moment(event),
          outputs: event.outputs.slice(0, SAMPLES).map(shownOutput)
        });
        break;
      case 'confusion':
        this._confusions.push({ ...moment(event), ...confused(event) });
        break;
      case 'worst':
        this._worst.push({
          ...moment(event),
          samples: event.samples.slice(0, SAMPLES).map(each => ({
            ...sample(each),
            loss: each.loss,
            output: shownOutput(each.output)
          }))
        });
        break;
      default:
        return;
    }
    this._view = null;
  }

  view(): ValidationView {
    this._view ??= {
      task: this._info?.task ?? null,
      classes: this._info?.classes ?? null,
      samples: this._info?.samples ?? [],
      predictions: this._predictions.items(),
      confusions: this._confusions.items(),
      worst: this._worst.items()
    };
    return this._view;
  }

  private _info: Pick<ValidationView, 'task' | 'classes' | 'samples'> | null =
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

function sampleInfo(event: SamplesEvent) {
  return {
    task: event.task ?? 'other',
    classes: event.classes && names(event.classes),
    samples: event.samples.slice(0, SAMPLES).map(sample)
  };
}

function sample({ index, input, target }: WatchedSample): Sample {
  return { index, input: shownInput(input), target: shownTarget(target) };
}

function moment({ epoch, step }: { epoch: number; step: number }) {
  return { epoch, step };
}

function confused(event: ConfusionEvent) {
  const rows = (event.counts ?? []).slice(0, CLASSES);
  // rows in a file may have any length
  const counts = rows.map(row => rows.map((_, column) => row[column] ?? 0));
  const pairs = (event.pairs ?? [])
    .slice(0, PAIRS)
    .filter(([, , count]) => count > 0);
  return { counts: rows.length ? counts : null, pairs };
}
