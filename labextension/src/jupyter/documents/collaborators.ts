// Other people in a document, from the awareness of jupyter-collaboration: names, colors and selections.

import type { YDocument } from '@jupyter/ydoc';
import { User } from '@jupyterlab/services';
import { IDisposable } from '@lumino/disposable';

import type { People, Person } from '../../editor';

type Awareness = YDocument<object>['awareness'];

/** Awareness state of a page; other extensions add fields of their own. */
interface State {
  user?: Partial<User.IIdentity>;
  labdl?: { selected?: unknown };
}

export class AwarenessCollaborators implements People, IDisposable {
  constructor(private readonly awareness: Awareness) {
    awareness.on('change', this._update);
    this._update();
  }

  readonly at = (node: string): readonly Person[] =>
    this._at.get(node) ?? NOBODY;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  readonly select = (nodes: Iterable<string>): void => {
    this.awareness.setLocalStateField('labdl', { selected: [...nodes] });
  };

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this.awareness.off('change', this._update);
    this._listeners.clear();
  }

  private readonly _update = (): void => {
    const at = new Map<string, Person[]>();
    this.awareness.getStates().forEach((state: State, client) => {
      const selected = state.labdl?.selected;
      if (client === this.awareness.clientID || !Array.isArray(selected)) {
        return;
      }
      const person = {
        name: state.user?.display_name || state.user?.name || '?',
        color: state.user?.color || 'var(--jp-collaborator-color1)'
      };
      for (const node of selected.slice(0, MOST) as unknown[]) {
        at.set(String(node), [...(at.get(String(node)) ?? []), person]);
      }
    });
    // reuse equal lists, so that only changed nodes are rendered again
    at.forEach((people, node) => {
      const former = this._at.get(node);
      if (former && JSON.stringify(former) === JSON.stringify(people)) {
        at.set(node, former);
      }
    });
    this._at = at;
    [...this._listeners].forEach(listener => listener());
  };

  private _at = new Map<string, Person[]>();
  private _isDisposed = false;
  private readonly _listeners = new Set<() => void>();
}

const NOBODY: readonly Person[] = [];
/** Maximum number of selected nodes that get a name, since more would cover the graph. */
const MOST = 50;
