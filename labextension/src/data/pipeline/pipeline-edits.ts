// Edits of a pipeline, each a new value; the ones before are kept to undo.

import type { Json } from '../../api/graph';
import type { Phase, PipelineData, SplitData, StepData } from '../../api/data';
import { sameJson } from '../../forms/same-json';
import {
  changeStep,
  findStep,
  fromData,
  insertStep,
  isWithin,
  removeStep,
  rowsOf,
  toData,
  type Place,
  type Step
} from './step-tree';

export interface Pipeline {
  steps: readonly Step[];
  split: Required<SplitData>;
}

export interface PipelineState {
  now: Pipeline;
  past: readonly Pipeline[];
  future: readonly Pipeline[];
  /** Pipeline in the file. */
  saved: PipelineData;
  /** Id of the selected step. */
  selected: number | null;
  /** Field whose edits are one undo step. */
  typing: string | null;
}

export type Edit =
  | { kind: 'add'; step: StepData; place: Place }
  | { kind: 'remove'; id: number }
  /** To a place in the steps without the moved one. */
  | { kind: 'move'; id: number; place: Place }
  | { kind: 'settings'; id: number; settings: { [name: string]: Json } }
  | { kind: 'phase'; id: number; phase: Phase }
  | { kind: 'split'; split: Partial<SplitData> }
  | { kind: 'select'; id: number | null }
  | { kind: 'undo' }
  | { kind: 'redo' }
  | { kind: 'saved'; pipeline: PipelineData };

const MOST_UNDO = 100;
const SPLIT: Required<SplitData> = { fraction: 0.8, seed: 0, stratify: true };

/** State of the view for a saved pipeline, and one that was not saved. */
export function startPipeline(
  saved: PipelineData,
  draft: PipelineData | null = null
): PipelineState {
  const now = withIds(draft ?? saved);
  return {
    now,
    past: [],
    future: [],
    saved: plain(withIds(saved)),
    selected: now.steps[0]?.id ?? null,
    typing: null
  };
}

/** The pipeline as in its file. */
export function plain({ steps, split }: Pipeline): PipelineData {
  return { steps: toData(steps), split };
}

export function isChanged(state: PipelineState): boolean {
  return !sameJson(plain(state.now), state.saved);
}

export function edit(state: PipelineState, change: Edit): PipelineState {
  const { now, past, future } = state;
  switch (change.kind) {
    case 'select':
      return { ...state, selected: change.id, typing: null };
    case 'saved':
      return { ...state, saved: change.pipeline, typing: null };
    case 'undo':
      return past.length
        ? reselect({
            ...state,
            now: past[past.length - 1],
            past: past.slice(0, -1),
            future: [now, ...future],
            typing: null
          })
        : state;
    case 'redo':
      return future.length
        ? reselect({
            ...state,
            now: future[0],
            past: [...past, now],
            future: future.slice(1),
            typing: null
          })
        : state;
    case 'add': {
      const next = { id: nextId(state) };
      const [step] = fromData([change.step], next);
      const steps = insertStep(now.steps, change.place, step);
      return { ...changed(state, { ...now, steps }), selected: step.id };
    }
    case 'remove': {
      const rows = rowsOf(now.steps);
      const row = rows.find(({ step }) => step.id === change.id);
      if (!row) {
        return state;
      }
      const steps = removeStep(now.steps, change.id);
      // the next sibling, or that before, or the step around them
      const others = rows.filter(
        ({ step, parent }) => parent === row.parent && step !== row.step
      );
      const next =
        others[Math.min(row.at, others.length - 1)]?.step.id ?? row.parent;
      return { ...changed(state, { ...now, steps }), selected: next };
    }
    case 'move': {
      const { id, place } = change;
      const step = findStep(now.steps, id);
      if (!step || (place.parent !== null && isWithin(step, place.parent))) {
        return state;
      }
      const steps = insertStep(removeStep(now.steps, id), place, step);
      const isSame = sameJson(ids(steps), ids(now.steps));
      return isSame
        ? state
        : { ...changed(state, { ...now, steps }), selected: id };
    }
    case 'settings': {
      const { id, settings } = change;
      const before = findStep(now.steps, id)?.settings ?? {};
      const names = Object.keys({ ...before, ...settings }).filter(
        name => !sameJson(before[name], settings[name])
      );
      const typing = `settings ${id} ${names.join()}`;
      return changed(state, withStep(now, id, { settings }), typing);
    }
    case 'phase':
      return changed(state, withStep(now, change.id, { phase: change.phase }));
    case 'split':
      return changed(
        state,
        { ...now, split: { ...now.split, ...change.split } },
        'split'
      );
  }
}

function changed(
  state: PipelineState,
  now: Pipeline,
  typing: string | null = null
): PipelineState {
  const isTyping = typing !== null && typing === state.typing;
  return {
    ...state,
    now,
    past: isTyping ? state.past : [...state.past, state.now].slice(-MOST_UNDO),
    future: [],
    typing
  };
}

/** Keeps the selection where its step still exists. */
function reselect(state: PipelineState): PipelineState {
  return findStep(state.now.steps, state.selected)
    ? state
    : { ...state, selected: state.now.steps[0]?.id ?? null };
}

/** Position of a step, or of that around it, among those of the pipeline itself; -1 if there is none. */
export function indexOf({ steps }: Pipeline, wanted: number | null): number {
  return steps.findIndex(step => wanted !== null && isWithin(step, wanted));
}

function withStep(
  pipeline: Pipeline,
  id: number,
  change: Partial<Step>
): Pipeline {
  return { ...pipeline, steps: changeStep(pipeline.steps, id, change) };
}

function withIds({ steps, split }: PipelineData): Pipeline {
  return { steps: fromData(steps), split: { ...SPLIT, ...split } };
}

function nextId({ now, past, future }: PipelineState): number {
  const all = [now, ...past, ...future].flatMap(({ steps }) => rowsOf(steps));
  return Math.max(-1, ...all.map(({ step }) => step.id)) + 1;
}

/** Each step with that around it. */
function ids(steps: readonly Step[]): Json {
  return rowsOf(steps).map(({ step, parent }) => [step.id, parent]);
}
