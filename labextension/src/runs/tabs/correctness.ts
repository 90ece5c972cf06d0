// Correctness of an output, and names of classes.

import type { ShownOutput, ShownTarget } from '../store/source';

/** Whether an output is correct; null where that is undefined. */
export function isRight(
  target: ShownTarget,
  output: ShownOutput | undefined
): boolean | null {
  return target.class === undefined || !output?.classes?.length
    ? null
    : output.classes[0] === target.class;
}

export function className(
  classes: readonly string[] | null,
  place: number
): string {
  return classes?.[place] ?? String(place);
}
