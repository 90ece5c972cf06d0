// Limits for the contents of events, and checks of values that their schema leaves open.

import type { Column, Indices } from '../../api/validate';
import type { ShownArray, ShownOutput, ShownTarget } from './source';

/** Maximum sizes of texts, values and points. */
const TEXT = 4000;
const VALUES = 256;
const POINTS = 2048;
const CHANNELS = 8;
const AXES = 16;
const CLASSES = 5;
const NAMES = 10_000;

/** Values of a column, which are checked one by one where they are used. */
export function column(
  value: Column | Indices | undefined,
  most = Infinity
): readonly unknown[] {
  return Array.from(value ?? []).slice(0, most);
}

/** Finite number, or null. */
export function finite(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Integer of at least 0, or null. */
export function whole(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? value
    : null;
}

/** Any value as text. */
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

export function names(value: readonly string[] = []): readonly string[] {
  return value.slice(0, NAMES).map(name => text(name, 300));
}

export function shownInput(from: ShownArray): ShownArray {
  const { picture, curve, values, shape } = from;
  return {
    picture: picture ?? undefined,
    curve: curve?.slice(0, CHANNELS).map(channel => channel.slice(0, POINTS)),
    values: values?.slice(0, VALUES),
    text: typeof from.text === 'string' ? text(from.text) : undefined,
    shape: shape?.slice(0, AXES)
  };
}

export function shownTarget(from: ShownTarget): ShownTarget {
  return { ...shownInput(from), class: from.class ?? undefined };
}

export function shownOutput(from: ShownOutput): ShownOutput {
  const { classes, scores } = from;
  return classes?.length
    ? {
        ...shownInput(from),
        classes: classes.slice(0, CLASSES),
        scores: (scores ?? []).slice(0, CLASSES)
      }
    : shownInput(from);
}
