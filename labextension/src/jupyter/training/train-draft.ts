// State of the Train panel's form, where numbers are texts until they are complete.

import type { Translator } from '../../editor';
import type {
  OfferOfKind,
  TargetKind,
  TrainingChoices,
  TrainingCode,
  TrainingSettings
} from './training-settings';

type Typed = 'size' | 'learning_rate' | 'epochs' | 'batch_size' | 'seed';

export type Draft = Omit<TrainingSettings, Typed> & {
  [name in Typed]: string;
};

/** Settings of a table that has just been chosen. */
export const NEW_TABLE = {
  target: null,
  scale: true,
  missing: 'error',
  encode: 'none'
} as const;

/** Initial form: previous choices that are still available, else defaults. */
export function draftOf(
  choices: TrainingChoices,
  before: Partial<TrainingSettings> | null
): Draft {
  const task = choices.tasks.find(({ name }) => name === before?.task);
  const chosen: TrainingSettings = {
    ...NEW_TABLE,
    task: null,
    size: null,
    loss_settings: {},
    optimizer_settings: {},
    schedule: null,
    schedule_settings: {},
    stopping: null,
    options: {},
    ...choices.defaults,
    backend:
      choices.defaults.backend ??
      choices.backends.find(backend => !backend.problem)?.name ??
      '',
    ...before
  };
  const usual = <K extends 'loss' | 'optimizer'>(
    key: K,
    offers: { name: string }[]
  ) => (offered(offers, chosen[key]) ? chosen[key] : choices.defaults[key]);
  return {
    ...chosen,
    loss: usual('loss', choices.losses),
    optimizer: usual('optimizer', choices.optimizers),
    metrics: chosen.metrics.filter(
      name => offered(choices.metrics, name) || task?.metrics.includes(name)
    ),
    size: `${chosen.size ?? ''}`,
    learning_rate: `${chosen.learning_rate}`,
    epochs: `${chosen.epochs}`,
    batch_size: `${chosen.batch_size}`,
    seed: `${chosen.seed}`
  };
}

/** Settings of a draft, or an error message. */
export function settingsOf(
  draft: Draft,
  trans: Translator
): TrainingSettings | string {
  const rate = Number(draft.learning_rate);
  const epochs = Number(draft.epochs);
  const batch = Number(draft.batch_size);
  const seed = Number(draft.seed);
  const size = draft.size.trim() ? Number(draft.size) : null;
  if (size !== null && !(Number.isInteger(size) && size > 0)) {
    return trans.__(
      'The size of samples must be a positive integer, such as 224, or empty for that of the model, but it is "%1".',
      draft.size
    );
  }
  if (!(rate > 0 && Number.isFinite(rate))) {
    return trans.__(
      'The learning rate must be a number above 0, such as 0.001, but it is "%1".',
      draft.learning_rate
    );
  }
  if (!(Number.isInteger(epochs) && epochs > 0)) {
    return trans.__(
      'The number of epochs must be a positive integer, but it is "%1".',
      draft.epochs
    );
  }
  if (!(Number.isInteger(batch) && batch > 0)) {
    return trans.__(
      'The batch size must be a positive integer, but it is "%1".',
      draft.batch_size
    );
  }
  if (!(Number.isInteger(seed) && seed >= 0 && draft.seed.trim())) {
    return trans.__(
      'The seed must be an integer of at least 0, but it is "%1".',
      draft.seed
    );
  }
  return {
    ...draft,
    size,
    learning_rate: rate,
    epochs,
    batch_size: batch,
    seed
  };
}

/** Change of the draft to a task, with its loss and metrics, or to none. */
export function chooseTask(
  choices: TrainingChoices,
  name: string | null
): Partial<Draft> {
  const task = choices.tasks.find(task => task.name === name);
  return task
    ? {
        task: task.name,
        ...(task.loss === null
          ? {}
          : { loss: task.loss, loss_settings: task.loss_settings }),
        metrics: task.metrics
      }
    : {
        task: null,
        size: '',
        loss: choices.defaults.loss,
        loss_settings: {},
        metrics: choices.defaults.metrics
      };
}

/** Draft with a task that fits, where the data set needs one; without one that no longer fits. */
export function adaptTask(
  draft: Draft,
  choices: TrainingChoices,
  answer: Pick<TrainingCode, 'tasks' | 'needs_task'>
): Draft {
  const tasks = answer.tasks ?? [];
  if (draft.task ? tasks.includes(draft.task) : !answer.needs_task) {
    return draft;
  }
  const next = (answer.needs_task && tasks[0]) || null;
  return next === draft.task
    ? draft
    : { ...draft, ...chooseTask(choices, next) };
}

/** Draft with default loss and metrics for a kind of data, if those chosen are for another. */
export function adaptToModel(
  draft: Draft,
  choices: TrainingChoices,
  kind: TargetKind | null | undefined
): Draft {
  const loss = choices.losses.find(({ name }) => name === draft.loss);
  if (draft.task || !kind || !loss?.kind || loss.kind === kind) {
    return draft;
  }
  const { stopping, schedule } = draft;
  const usual = choices.first[kind];
  return {
    ...draft,
    ...usual,
    loss_settings: {},
    // `monitor` may name a metric that is no longer computed
    stopping: stopping && withoutKey(stopping, 'monitor'),
    schedule_settings: schedule
      ? withoutKey(draft.schedule_settings, 'metric')
      : {}
  };
}

/** Offers for a kind of data, then the others. */
export function byKind<T extends OfferOfKind>(
  offers: T[],
  kind: TargetKind | null | undefined
): { fitting: T[]; others: T[] } {
  const isFitting = (offer: T) => !!kind && offer.kind === kind;
  return {
    fitting: offers.filter(isFitting),
    others: offers.filter(offer => !isFitting(offer))
  };
}

function offered(offers: { name: string }[], name: string): boolean {
  return offers.some(offer => offer.name === name);
}

function withoutKey<T extends object>(given: T, key: string): T {
  return Object.fromEntries(
    Object.entries(given).filter(([name]) => name !== key)
  ) as T;
}
