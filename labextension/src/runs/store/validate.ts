// Reads values out of events, which come from a file that anybody may have written: what is not as it should be is left out.

import type { Picture, ShownArray, ShownOutput, ShownTarget } from './source';

/** More of a text, of values and of points than these is not for looking at. */
const TEXT = 4000;
const VALUES = 256;
const POINTS = 2048;
const CHANNELS = 8;
const NAMES = 10_000;

type Fields = { readonly [name: string]: unknown };

export function fields(value: unknown): Fields {
  return value !== null && typeof value === 'object' ? (value as Fields) : {};
}

export function list(value: unknown, most = Infinity): readonly unknown[] {
  if (ArrayBuffer.isView(value) && 'length' in value) {
    return Array.from(value as unknown as ArrayLike<number>).slice(0, most);
  }
  return Array.isArray(value) ? value.slice(0, most) : [];
}

/** A finite number, or null. */
export function finite(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A whole number at least 0, or null. */
export function whole(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? value
    : null;
}

export function text(value: unknown, most = TEXT): string {
  const words =
    typeof value === 'string'
      ? value
      : value === null || value === undefined
        ? ''
        : typeof value === 'object'
          ? JSON.stringify(value)
          : String(value);
  return words.length > most ? `${words.slice(0, most)}…` : words;
}

export function names(value: unknown): readonly string[] {
  return list(value, NAMES).map(name => text(name, 300));
}

function numbers(value: unknown, most: number): (number | null)[] {
  return list(value, most).map(finite);
}

/** A field of what is shown, if it is there and as it should be. */
function shownArray(from: Fields): ShownArray {
  const shown: ShownArray = {};
  if (from.picture !== null && typeof from.picture === 'object') {
    shown.picture = from.picture as Picture; // whoever draws it looks at it
  }
  if (Array.isArray(from.curve)) {
    shown.curve = list(from.curve, CHANNELS).map(channel =>
      numbers(channel, POINTS)
    );
  }
  if (Array.isArray(from.values)) {
    shown.values = numbers(from.values, VALUES);
  }
  if (typeof from.text === 'string') {
    shown.text = text(from.text);
  }
  if (Array.isArray(from.shape)) {
    shown.shape = list(from.shape, 16).map(size => finite(size) ?? 0);
  }
  return shown;
}

export function shownInput(value: unknown): ShownArray {
  return shownArray(fields(value));
}

export function shownTarget(value: unknown): ShownTarget {
  const from = fields(value);
  const known = whole(from.class);
  return { ...shownArray(from), ...(known === null ? {} : { class: known }) };
}

export function shownOutput(value: unknown): ShownOutput {
  const from = fields(value);
  const classes = list(from.classes, 5).flatMap(each => whole(each) ?? []);
  return {
    ...shownArray(from),
    ...(classes.length ? { classes, scores: numbers(from.scores, 5) } : {})
  };
}
