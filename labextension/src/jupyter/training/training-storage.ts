// Last training settings of a document, stored with JupyterLab's workspace.

import type { IStateDB } from '@jupyterlab/statedb';
import { Debouncer } from '@lumino/polling';
import type { ReadonlyJSONObject } from '@lumino/coreutils';

import type { TrainingState } from './training-state';

const WAIT = 1000;

type Kept = Pick<TrainingState, 'draft' | 'kernels'>;

export class TrainingStorage {
  constructor(private readonly _database: IStateDB | null) {}

  /** The state, completed with stored values. */
  async recall(state: TrainingState): Promise<TrainingState> {
    let kept: Kept | undefined;
    try {
      kept = (await this._database?.fetch(keyOf(state.path))) as
        Kept | undefined;
    } catch {
      // not essential: without it the form starts with defaults
    }
    return {
      ...state,
      draft: state.draft ?? state.settings ?? kept?.draft ?? null,
      kernels: { ...kept?.kernels, ...state.kernels }
    };
  }

  keep(state: TrainingState): void {
    this._waiting.set(state.path, state);
    void this._writing.invoke().catch(() => undefined);
  }

  private async _write(): Promise<void> {
    const waiting = [...this._waiting];
    this._waiting.clear();
    for (const [path, { draft = null, kernels }] of waiting) {
      const kept = { draft, kernels } as unknown as ReadonlyJSONObject;
      await this._database?.save(keyOf(path), kept);
    }
  }

  private readonly _waiting = new Map<string, TrainingState>();
  private readonly _writing = new Debouncer(() => this._write(), WAIT);
}

function keyOf(path: string): string {
  return `labdl-training:${path}`;
}
