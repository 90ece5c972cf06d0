// Steps inside of others: a tree by ids, of which each edit makes a new one.

import type { StepData } from '../../api/data';

/** A step with an id that stays when it moves. */
export interface Step extends Omit<Required<StepData>, 'inner' | 'object'> {
  id: number;
  inner: readonly Step[];
  /** A function or an object of the kernel, which has no settings here. */
  object: StepData['object'];
}

/** Where a step is: among the inner ones of another, or of the pipeline itself. */
export interface Place {
  parent: number | null;
  at: number;
}

export interface Row extends Place {
  step: Step;
  /** Numbers from 1, as in 2.1. */
  path: readonly number[];
  siblings: number;
}

/** All steps from top to bottom, without those inside of a collapsed one. */
export function rowsOf(
  steps: readonly Step[],
  collapsed: ReadonlySet<number> = new Set(),
  parent: number | null = null,
  above: readonly number[] = []
): Row[] {
  return steps.flatMap((step, at) => {
    const path = [...above, at + 1];
    const row = { step, parent, at, path, siblings: steps.length };
    return collapsed.has(step.id)
      ? [row]
      : [row, ...rowsOf(step.inner, collapsed, step.id, path)];
  });
}

export function findStep(
  steps: readonly Step[],
  id: number | null
): Step | undefined {
  return rowsOf(steps).find(({ step }) => step.id === id)?.step;
}

/** Whether a step is another one, or inside of it. */
export function isWithin(step: Step, id: number): boolean {
  return step.id === id || step.inner.some(one => isWithin(one, id));
}

export function changeStep(
  steps: readonly Step[],
  id: number,
  change: Partial<Step>
): Step[] {
  return steps.map(step =>
    step.id === id
      ? { ...step, ...change }
      : step.inner.length
        ? { ...step, inner: changeStep(step.inner, id, change) }
        : step
  );
}

export function removeStep(steps: readonly Step[], id: number): Step[] {
  return steps
    .filter(step => step.id !== id)
    .map(step =>
      step.inner.length ? { ...step, inner: removeStep(step.inner, id) } : step
    );
}

export function insertStep(
  steps: readonly Step[],
  { parent, at }: Place,
  step: Step
): Step[] {
  if (parent === null) {
    return [...steps.slice(0, at), step, ...steps.slice(at)];
  }
  const owner = findStep(steps, parent);
  return owner
    ? changeStep(steps, parent, {
        inner: insertStep(owner.inner, { parent: null, at }, step)
      })
    : [...steps];
}

/** The steps as in a file. */
export function toData(steps: readonly Step[], isInner = false): StepData[] {
  return steps.map(({ type, settings, phase, inner, object }) => ({
    type,
    settings,
    ...(isInner ? {} : { phase }),
    ...(inner.length ? { inner: toData(inner, true) } : {}),
    ...(object ? { object } : {})
  }));
}

/** The steps of a file, with ids from a number on. */
export function fromData(data: readonly StepData[], next = { id: 0 }): Step[] {
  return data.map(
    ({ type, settings, phase = 'always', inner = [], object }) => ({
      id: next.id++,
      type,
      settings,
      phase,
      inner: fromData(inner, next),
      object: object ?? null
    })
  );
}
