// Colors of labels: the same label has the same color in each sample.

/** The palette of Okabe and Ito, which color-blind people can distinguish, in the order of their contrast. */
const COLORS = 8;

/** Number of a label's color, 0 to 7, from its place among the classes or from its letters. */
export function colorOf(label: string, classes: readonly string[]): number {
  const place = classes.indexOf(label);
  if (place >= 0) {
    return place % COLORS;
  }
  let sum = 0;
  for (const letter of label) {
    sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_521;
  }
  return sum % COLORS;
}
