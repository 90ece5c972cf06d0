// Position of a pasted or duplicated fragment.
import type { Surroundings } from './actions';
import { Fragment } from '../model/fragment';
import { Position } from '../model/graph-data';
import { placeOf } from '../notes/notes';
import { centerAt } from '../canvas/placement';

/** Offset of a copy from its original. */
const PASTE_SHIFT = 40;

/** Offset beside the original, or to the center of the view if the original is not visible. */
export function pasteOffset(
  fragment: Fragment,
  places: { [id: string]: Position },
  { document, isVisible, middle }: Surroundings
): Position {
  const corners = [
    ...Object.values(fragment.positions),
    ...Object.values(fragment.notes ?? {}).map(placeOf)
  ];
  const [left, top] = corners.reduce(
    (least, [x, y]) => [Math.min(least[0], x), Math.min(least[1], y)],
    [Infinity, Infinity]
  );
  if (!Number.isFinite(left)) {
    return middle();
  }
  if (!corners.some(isVisible)) {
    const [x, y] = centerAt(middle());
    return [x - left, y - top];
  }
  const notes = document.snapshot().notes ?? {};
  const taken = [
    ...Object.values(places),
    ...Object.values(notes).map(placeOf)
  ];
  for (let shift = PASTE_SHIFT; ; shift += PASTE_SHIFT) {
    const isHidden = taken.some(
      ([x, y]) =>
        Math.abs(x - left - shift) < 10 && Math.abs(y - top - shift) < 10
    );
    if (!isHidden) {
      return [shift, shift];
    }
  }
}
