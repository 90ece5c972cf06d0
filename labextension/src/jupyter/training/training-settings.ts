// What a model can be trained on, with and by, and what a person has chosen of it: as the server has them.

import type { Shape } from '../../api/graph';

export type {
  BackendInfo,
  ChosenSettings,
  DataFileInfo,
  DatasetInfo,
  TargetKind,
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

/** A data set in a file, not one of those that have a name. */
export function isDataFile(name: string): boolean {
  return /\.(csv|npz)$/.test(name);
}

/** Whether samples of a shape go into a model's input. */
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
