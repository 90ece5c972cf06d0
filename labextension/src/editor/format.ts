// Shapes and counts as text.
import { Json, Shape } from './model';

/** "? × 16 × 8 × 8"; a shape without axes is a single number. */
export function shapeText(shape: Shape, scalar: string): string {
  return shape.length
    ? shape.map(size => (size === null ? '?' : String(size))).join(' × ')
    : scalar;
}

/** "out_features=16, bias=False": settings as a call says them. */
export function settingsText(params: { [key: string]: Json }): string {
  return Object.entries(params)
    .map(([key, value]) => `${key}=${settingText(value)}`)
    .join(', ');
}

function settingText(value: Json): string {
  if (Array.isArray(value)) {
    // a size that is not fixed
    const items = value.map(item => (item === null ? '?' : settingText(item)));
    return `(${items.join(', ')})`;
  }
  if (typeof value === 'boolean' || value === null) {
    return { true: 'True', false: 'False', null: 'None' }[`${value}`];
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const UNITS: [number, string][] = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k']
];

/** "160", "12.3 k", "1.2 M": three figures are enough on a node. */
export function shortCount(count: number): string {
  for (const [size, unit] of UNITS) {
    // 999 950 would round to "1000 k"
    if (count >= size * 0.99995 && count >= 1000) {
      const value = count / size;
      return `${value.toFixed(value < 99.95 ? 1 : 0).replace(/\.0$/, '')} ${unit}`;
    }
  }
  return String(count);
}

/** "0 B", "2.6 kB". */
export function shortBytes(bytes: number): string {
  const text = shortCount(bytes);
  return /\d$/.test(text) ? `${text} B` : `${text}B`;
}

/** The whole number with separators. */
export function fullCount(count: number): string {
  return count.toLocaleString('en-GB');
}
