// Shapes and counts as text.
import { Shape } from './model';

/** "? × 16 × 8 × 8"; a shape without axes is a single number. */
export function shapeText(shape: Shape, scalar: string): string {
  return shape.length
    ? shape.map(size => (size === null ? '?' : String(size))).join(' × ')
    : scalar;
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
