// Selected nodes and edges, shared by canvas, inspector and commands.

export interface Selected {
  readonly nodes: ReadonlySet<string>;
  readonly edges: ReadonlySet<string>;
}

const NOTHING: Selected = { nodes: new Set(), edges: new Set() };

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every(id => b.has(id));
}

export class SelectionStore {
  readonly state = (): Selected => this._state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  set(nodes: Iterable<string>, edges: Iterable<string> = []): void {
    const old = this._state;
    const keep = (before: ReadonlySet<string>, ids: Iterable<string>) => {
      const next = new Set(ids);
      return sameSet(before, next) ? before : next;
    };
    const next = {
      nodes: keep(old.nodes, nodes),
      edges: keep(old.edges, edges)
    };
    if (next.nodes === old.nodes && next.edges === old.edges) {
      return;
    }
    this._state = next;
    [...this._listeners].forEach(listener => listener());
  }

  clear(): void {
    this.set([]);
  }

  /** Selects or deselects some elements; the others stay unchanged. */
  change(kind: 'nodes' | 'edges', changes: Map<string, boolean>): void {
    const ids = new Set(this._state[kind]);
    changes.forEach((on, id) => (on ? ids.add(id) : ids.delete(id)));
    const next = { ...this._state, [kind]: ids };
    this.set(next.nodes, next.edges);
  }

  private _state: Selected = NOTHING;
  private readonly _listeners = new Set<() => void>();
}
