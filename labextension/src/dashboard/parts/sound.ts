// The door: events come from a file that anybody may have written. Those that are not what they should be stay outside.

import type { RunEvent, StartEvent } from '../source';
import { fields } from './checked';

type Check = (value: unknown) => boolean;

const isNumber: Check = value => Number.isFinite(value);
const isText: Check = value => typeof value === 'string';
const isColumn: Check = value =>
  Array.isArray(value) || ArrayBuffer.isView(value);
const isTexts: Check = value => Array.isArray(value) && value.every(isText);
const isObject: Check = value =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const maybe =
  (check: Check): Check =>
  value =>
    value === undefined || value === null || check(value);
const isOne =
  (...all: string[]): Check =>
  value =>
    all.includes(value as string);
const isTable: Check = value =>
  isObject(value) && Object.values(value as object).every(Array.isArray);

type Checks = { readonly [field: string]: Check };

/** What the parts rely on, by kind; what is not named here is looked at where it is used. */
const WANTED: { readonly [kind in RunEvent['kind']]?: Checks } = {
  steps: { step: isColumn },
  epoch: {
    epoch: isNumber,
    step: isNumber,
    samples_per_second: maybe(isNumber)
  },
  rate: { step: isColumn, value: isColumn },
  health: {
    step: isNumber,
    layers: maybe(isTexts),
    parameters: isTable,
    outputs: isTable
  },
  status: {
    status: isOne('running', 'paused', 'stopping'),
    step: maybe(isNumber)
  },
  learning_rate: { step: isNumber, value: isNumber },
  epochs: { epochs: isNumber, step: maybe(isNumber) },
  checkpoint: { step: isNumber, path: isText },
  branch: { step: isNumber, id: isText },
  command: { id: isText, message: maybe(isText), step: maybe(isNumber) },
  problem: { message: isText },
  end: {
    status: isOne('finished', 'stopped', 'failed'),
    message: maybe(isText),
    place: maybe(isObject),
    summary: maybe(isObject)
  }
};

/** The fields of a start event; one that is not as it should be is left out, the others count. */
const START: Checks = {
  parent: isObject,
  version: isNumber,
  step: isNumber,
  model: isText,
  backend: isText,
  epochs: isNumber,
  steps_per_epoch: isNumber,
  batch_size: isNumber,
  metrics: isTexts,
  higher: isTexts,
  lower: isTexts,
  settings: isObject,
  environment: isObject
};

/** The event as the parts take it, or null for one that none of them could. */
export function sound(event: RunEvent): RunEvent | null {
  if (event.kind === 'reset') {
    return event;
  }
  const given = fields(event);
  if (!isNumber(given.time)) {
    return null;
  }
  if (event.kind === 'start') {
    const wrong = Object.keys(START).filter(name => !START[name](given[name]));
    return wrong.length
      ? ({
          ...event,
          ...Object.fromEntries(wrong.map(name => [name, undefined]))
        } as StartEvent)
      : event;
  }
  const wanted = Object.entries(WANTED[event.kind] ?? {});
  return wanted.every(([name, check]) => check(given[name])) ? event : null;
}
