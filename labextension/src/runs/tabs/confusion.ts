// Statistics of a confusion matrix: shares, the most confused classes, and the most frequent mistakes.

import type { Confusion } from '../store/validation';

export interface Mistake {
  readonly truth: number;
  readonly predicted: number;
  readonly count: number;
  /** Fraction of the true class; null where its size is unknown. */
  readonly share: number | null;
}

export function rowSums(counts: readonly (readonly number[])[]): number[] {
  return counts.map(row => row.reduce((sum, count) => sum + count, 0));
}

/** Indices of the classes, sorted by their number of mistakes as the true or the predicted class. */
export function mostConfused(
  counts: readonly (readonly number[])[]
): readonly number[] {
  const wrong = counts.map((row, place) =>
    row.reduce(
      (sum, count, column) =>
        column === place ? sum : sum + count + counts[column][place],
      0
    )
  );
  return wrong.map((_, place) => place).sort((a, b) => wrong[b] - wrong[a]);
}

/** Mistakes, the most frequent first. */
export function mistakes(confusion: Confusion, most: number): Mistake[] {
  const { counts, pairs } = confusion;
  const sums = counts && rowSums(counts);
  const found: Mistake[] = counts
    ? counts.flatMap((row, truth) =>
        row.flatMap((count, predicted) =>
          truth === predicted || !count
            ? []
            : [{ truth, predicted, count, share: count / (sums?.[truth] || 1) }]
        )
      )
    : pairs.map(([truth, predicted, count]) => ({
        truth,
        predicted,
        count,
        share: null
      }));
  return found.sort((a, b) => b.count - a.count).slice(0, most);
}

/** Fraction of correct predictions; null where nothing was counted. */
export function accuracy(
  counts: readonly (readonly number[])[]
): number | null {
  const all = rowSums(counts).reduce((sum, count) => sum + count, 0);
  const right = counts.reduce((sum, row, place) => sum + row[place], 0);
  return all ? right / all : null;
}

/** Opacity of a cell; nonzero counts stay visible, also in dark themes. */
export function shade(part: number): number {
  return 0.18 + 0.82 * part;
}
