// Facts of a run from its start: settings, environment and parent; and the branches that started from it.

import type { BranchEvent, RunEvent, StartEvent } from './source';
import type { Reducer } from './reducer';

const BRANCHES = 100;

export interface RunInfo {
  readonly start: StartEvent | null;
  readonly branches: readonly BranchEvent[];
}

export class Facts implements Reducer<RunInfo> {
  apply(event: RunEvent): void {
    if (event.kind === 'start') {
      const step = event.step ?? 0;
      const branches = this._facts.branches.filter(each => each.step <= step);
      this._facts = { start: event, branches };
    } else if (event.kind === 'branch') {
      const branches = [...this._facts.branches, event].slice(-BRANCHES);
      this._facts = { ...this._facts, branches };
    }
  }

  view(): RunInfo {
    return this._facts;
  }

  private _facts: RunInfo = { start: null, branches: [] };
}
