// Where a step may go: into those that hold others, which have room for it.

import type { TransformInfo } from '../../api/data';
import {
  findStep,
  isWithin,
  rowsOf,
  type Place,
  type Row,
  type Step
} from './step-tree';

/** What the steps hold, by the transforms on offer. */
export type Infos = readonly TransformInfo[] | null;

/** As deep as a file has them. */
const DEEPEST = 16;

export function infoOf(infos: Infos, type: string): TransformInfo | undefined {
  return infos?.find(({ name }) => name === type);
}

/** How many transforms a step may have inside of it. */
export function roomOf(step: Step, infos: Infos): number {
  if (step.object) {
    return 0;
  }
  const info = infoOf(infos, step.type);
  const inner = info?.inner ?? (step.inner.length ? 'many' : 'none');
  return { none: 0, one: 1, many: Infinity }[inner];
}

export function isHolder(step: Step, infos: Infos): boolean {
  return roomOf(step, infos) > 0;
}

/** Whether a step with others in it may be inside of another one, or of none. */
export function mayBeIn(
  steps: readonly Step[],
  step: Step,
  parent: number | null,
  infos: Infos
): boolean {
  if (parent === null) {
    return true;
  }
  const owner = findStep(steps, parent);
  if (!owner || isWithin(step, parent) || infoOf(infos, step.type)?.mixes) {
    return false;
  }
  const others = owner.inner.filter(({ id }) => id !== step.id);
  const depth = rowsOf(steps).find(row => row.step === owner)?.path.length ?? 0;
  return (
    others.length < roomOf(owner, infos) && depth + heightOf(step) <= DEEPEST
  );
}

function heightOf({ inner }: Step): number {
  return 1 + Math.max(0, ...inner.map(heightOf));
}

/** Behind the selected step, or around it where the step around it has no room; at the end without a selection. */
export function placeBehind(
  steps: readonly Step[],
  selected: number | null,
  infos: Infos
): Place {
  const row = rowsOf(steps).find(({ step }) => step.id === selected);
  if (!row) {
    return { parent: null, at: steps.length };
  }
  const owner = findStep(steps, row.parent);
  return owner && owner.inner.length >= roomOf(owner, infos)
    ? placeBehind(steps, owner.id, infos)
    : { parent: row.parent, at: row.at + 1 };
}

/** Where keys with Alt move a step: among its siblings, into the one before, or out behind the one around it. */
export function placeByKey(
  key: string,
  steps: readonly Step[],
  id: number,
  infos: Infos
): Place | null {
  const rows = rowsOf(steps);
  const row = rows.find(({ step }) => step.id === id);
  if (!row) {
    return null;
  }
  const { step, parent, at, siblings } = row;
  const owner = rows.find(other => other.step.id === parent);
  const before = rows.find(
    other => other.parent === parent && other.at === at - 1
  );
  const places: Record<string, Place | null | undefined> = {
    ArrowUp: at > 0 ? { parent, at: at - 1 } : null,
    ArrowDown: at < siblings - 1 ? { parent, at: at + 1 } : null,
    ArrowLeft: owner && { parent: owner.parent, at: owner.at + 1 },
    ArrowRight: before && {
      parent: before.step.id,
      at: before.step.inner.length
    }
  };
  const place = places[key];
  return place && mayBeIn(steps, step, place.parent, infos) ? place : null;
}

/**
 * Where a dragged step goes: above or below the row that it is over, at the level that is closest to the wanted one.
 * Null where it may not be.
 */
export function placeByDrag(
  steps: readonly Step[],
  id: number,
  over: number,
  depth: number,
  infos: Infos,
  collapsed: ReadonlySet<number>
): (Place & { depth: number }) | null {
  const step = findStep(steps, id);
  const rows = rowsOf(steps, new Set([...collapsed, id]));
  const to = rows.findIndex(row => row.step.id === over);
  if (!step || to < 0) {
    return null;
  }
  const others = rows.filter(row => row.step.id !== id);
  // the rows that the step is between after the move
  const above = others[to - 1] ?? null;
  const below = others[to] ?? null;
  const choices: (Place & { depth: number })[] = [
    above
      ? { parent: above.step.id, at: 0, depth: above.path.length }
      : { parent: null, at: 0, depth: 0 }
  ];
  for (let row: Row | null = above; row;) {
    const { parent, path }: Row = row;
    const at = others.filter(
      other => other.parent === parent && others.indexOf(other) < to
    ).length;
    choices.push({ parent, at, depth: path.length - 1 });
    const next: Row | undefined = others.find(
      other => other.step.id === parent
    );
    row = next ?? null;
  }
  const least = below ? below.path.length - 1 : 0;
  const allowed = choices.filter(
    choice =>
      choice.depth >= least && mayBeIn(steps, step, choice.parent, infos)
  );
  allowed.sort((a, b) => Math.abs(a.depth - depth) - Math.abs(b.depth - depth));
  return allowed[0] ?? null;
}
