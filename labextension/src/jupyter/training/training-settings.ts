// Options and settings of a training, as the server defines them.

import type { Shape } from '../../api/graph';

export type {
  BackendInfo,
  ChosenSettings,
  DataFileInfo,
  DatasetInfo,
  TargetKind,
  TaskChoice,
  TrainingChoices,
  TrainingCode,
  TrainingSettings
} from '../../api/training';
export type {
  Choice as Offer,
  ChoiceOfKind as OfferOfKind,
  ChoiceWithSettings as OfferWithSettings
} from '../../api/training';
export type { Shape };

/** Whether a data set is a folder (with / at its end) or a file, rather than a registered one. */
export function isDataFile(name: string): boolean {
  return /[./]/.test(name);
}

/** Whether samples of a shape fit a model's input. */
export function fits(samples: Shape | null, input: Shape | undefined): boolean {
  return (
    !samples ||
    !input ||
    (samples.length === input.length &&
      input
        .slice(1)
        .every((size, i) => size === null || size === samples[i + 1]))
  );
}

/** As in "3 × 224 × 224": the axis of the batch is left out. */
export function shapeText(shape: Shape): string {
  return shape
    .slice(1)
    .map(size => size ?? '?')
    .join(' × ');
}
