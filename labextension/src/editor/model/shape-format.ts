// Formats shapes, settings and counts.
import { Json, Shape } from './graph-data';

/** "N × 16 × ? × 8", N for the batch and ? for unknown sizes; a shape without axes is a scalar. */
export function shapeText(shape: Shape, scalar: string): string {
  return shape.length
    ? shape
        .map((size, at) => (size === null ? (at ? '?' : 'N') : String(size)))
        .join(' × ')
    : scalar;
}

/** "out_features=16, bias=False": settings as arguments of a call. */
export function settingsText(params: { [key: string]: Json }): string {
  return Object.entries(params)
    .map(([key, value]) => `${key}=${settingText(value)}`)
    .join(', ');
}

export function settingText(value: Json): string {
  if (Array.isArray(value)) {
    // an unknown size
    const items = value.map(item => (item === null ? '?' : settingText(item)));
    return `(${items.join(', ')})`;
  }
  if (typeof value === 'boolean' || value === null) {
    return { true: 'True', false: 'False', null: 'None' }[`${value}`];
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The integer with thousands separators. */
export function fullCount(count: number): string {
  return count.toLocaleString('en-GB');
}
