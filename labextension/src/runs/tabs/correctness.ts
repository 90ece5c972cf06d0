// Whether an output is right, and what classes are called.

import type { ShownOutput, ShownTarget } from '../store/source';

/** Null where there is no right and wrong. */
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
