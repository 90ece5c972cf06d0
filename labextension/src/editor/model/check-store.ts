// Latest result of the check; outside React, so that only changed nodes redraw.
import { CheckResult, Costs, NodeCheck, Problem, sameJson } from './graph-data';

export type Figure = keyof Costs;

export type CheckPhase = 'waiting' | 'checking' | 'done' | 'failed';

export interface CheckState {
  phase: CheckPhase;
  /** Error message of a failed check; empty otherwise. */
  message: string;
  /** Costs of the whole model; null before the first result. */
  total: Costs | null;
  problems: Problem[];
  /** What works, but is seldom meant. */
  hints: Problem[];
}

export class CheckStore {
  readonly state = (): CheckState => this._state;

  /** Result for one node; the same object while it is equal. */
  node(id: string): NodeCheck | undefined {
    return this._nodes.get(id);
  }

  /** Hint at one node. */
  hint(id: string): string | undefined {
    return this._state.hints.find(hint => hint.node === id)?.message;
  }

  /** The cost that layers show on the canvas. */
  readonly figure = (): Figure => this._figure;

  showFigure(figure: Figure): void {
    this._figure = figure;
    [...this._listeners].forEach(listener => listener());
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  checking(): void {
    this._set({ ...this._state, phase: 'checking' });
  }

  failed(message: string): void {
    this._set({ ...this._state, phase: 'failed', message });
  }

  answer(result: CheckResult): void {
    const nodes = new Map<string, NodeCheck>();
    for (const [id, check] of Object.entries(result.nodes)) {
      const problem =
        check.problem ??
        result.problems.find(item => item.node === id)?.message ??
        null;
      const next = { ...check, problem };
      const old = this._nodes.get(id);
      nodes.set(id, old && sameJson(old, next) ? old : next);
    }
    this._nodes = nodes;
    const old = this._state.problems;
    const { hints = [] } = result;
    this._set({
      phase: 'done',
      message: '',
      total: {
        parameters: result.parameters,
        operations: result.operations,
        memory: result.memory
      },
      problems: sameJson(old, result.problems) ? old : result.problems,
      hints: sameJson(this._state.hints, hints) ? this._state.hints : hints
    });
  }

  private _set(state: CheckState): void {
    this._state = state;
    [...this._listeners].forEach(listener => listener());
  }

  private _nodes = new Map<string, NodeCheck>();
  private _figure: Figure = 'parameters';
  private readonly _listeners = new Set<() => void>();
  private _state: CheckState = {
    phase: 'waiting',
    message: '',
    total: null,
    problems: [],
    hints: []
  };
}
