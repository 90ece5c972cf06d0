// Graph as a shared document: each gesture is one method, one transaction and one undo step.
import * as Y from 'yjs';

import type { Around, Change, NewNode } from './change';
import {
  dropOthers,
  Entry,
  orderOf,
  setIfNew,
  writeEntry
} from './map-entries';
import { LockStore } from './lock';
import { EdgeData, GraphData, Json, NodeData, Position } from './graph-data';
import { bridgesOf } from './bridging';
import { nameOfType, newId, uniquePath } from './naming';
import { isBlock } from './paths';
import { Reader } from './document-reader';

export type { Around, Change, NewNode } from './change';

export class GraphDocument {
  readonly undoManager: Y.UndoManager;
  /** Whether the document is read-only, and why. */
  readonly lock = new LockStore();
  /** Drawn positions of nodes without a stored one; stored when the graph around them changes. */
  shownAt: (() => { [id: string]: Position }) | undefined;
  /** Functions of forms that apply what is typed there, which they do a moment later by themselves. */
  readonly typedChanges = new Set<() => void>();

  constructor(
    readonly ydoc: Y.Doc,
    undoManager?: Y.UndoManager
  ) {
    this._nodes = ydoc.getMap<Entry>('nodes');
    this._edges = ydoc.getMap<Entry>('edges');
    this._positions = ydoc.getMap<Position>('positions');
    this._meta = ydoc.getMap<unknown>('meta');
    this._notes = ydoc.getMap<Entry>('notes');
    const scope = [
      this._nodes,
      this._edges,
      this._positions,
      this._meta,
      this._notes
    ];
    this._ownsManager = undoManager === undefined;
    this.undoManager =
      undoManager ?? new Y.UndoManager(scope, { trackedOrigins: new Set() });
    // The host's manager tracks its own transactions; add those of the document.
    this.undoManager.addToScope(scope);
    this.undoManager.addTrackedOrigin(this);
    this._reader = new Reader(ydoc);
  }

  dispose(): void {
    this._reader.dispose();
    if (this._ownsManager) {
      this.undoManager.destroy();
    } else {
      this.undoManager.removeTrackedOrigin(this);
    }
  }

  /** The graph as plain data; unchanged parts keep their identity. */
  readonly snapshot = (): GraphData => this._reader.snapshot();

  /** Calls the listener once after every transaction that changed the graph. */
  readonly subscribe = (listener: () => void): (() => void) =>
    this._reader.subscribe(listener);

  /** Applies what is typed and not yet in the graph, before the graph is saved. */
  applyTyped(): void {
    this.typedChanges.forEach(apply => apply());
  }

  // --- gestures ---

  /** Adds a node with its edges; returns its id. */
  addNode(node: NewNode, around: Around = {}): string {
    const { incoming = [], outgoing = [], replaced = [], moved = {} } = around;
    const id = newId('n', this._nodes);
    this._transact(() => {
      this._storePositions();
      const word = nameOfType(node.type);
      const wanted = node.home ? `${node.home}/${word}` : word;
      const name = uniquePath(wanted, this._names());
      this._writeNode(id, { type: node.type, name, params: node.params ?? {} });
      if (node.position) {
        this._positions.set(id, node.position);
      }
      this._writePositions(moved);
      this._replaceEdges(replaced, [
        ...incoming.map(edge => ({ ...edge, target: id })),
        ...outgoing.map(edge => ({ ...edge, source: id }))
      ]);
    });
    return id;
  }

  /** Adds edges; `replaced` are removed. */
  addEdges(edges: EdgeData[], replaced: string[] = []): string[] {
    let ids: string[] = [];
    this._transact(() => {
      this._storePositions();
      ids = this._replaceEdges(replaced, edges);
    });
    return ids;
  }

  /** Removes nodes with their edges, further edges, and notes, by id; a gap in a chain is closed. */
  remove(nodes: Iterable<string>, edges: Iterable<string> = []): void {
    const gone = new Set(nodes);
    const cut = new Set(edges);
    this._transact(() => {
      this._storePositions();
      const bridges = bridgesOf(this.snapshot(), gone, cut);
      this._replaceEdges(bridges.replaced, bridges.edges);
      for (const id of cut) {
        this._edges.delete(id);
      }
      for (const [id, edge] of Object.entries(this.snapshot().edges)) {
        if (gone.has(edge.source) || gone.has(edge.target)) {
          this._edges.delete(id);
        }
      }
      this._reassignShared(gone);
      gone.forEach(id => {
        this._nodes.delete(id);
        this._positions.delete(id);
        this._notes.delete(id);
      });
    });
  }

  /** Moves nodes and notes; consecutive moves with the same `typing` key are one undo step. */
  move(positions: { [id: string]: Position }, typing?: string): void {
    this._transact(() => this._writePositions(positions), typing);
  }

  /** Sets a parameter; undefined restores the default. */
  setParam(
    id: string,
    key: string,
    value: Json | undefined,
    typing?: string
  ): void {
    this._transact(() => this._writeParam(id, key, value), typing);
  }

  /** Gives a node that shares the settings of another its own copy. */
  separate(id: string): void {
    this._transact(() => {
      const { nodes } = this.snapshot();
      const node = nodes[id];
      const owner = node?.shares && nodes[node.shares];
      if (owner) {
        this._writeNode(id, { ...node, params: owner.params, shares: '' });
      }
    });
  }

  rename(id: string, name: string, typing?: string): void {
    this._transact(() => {
      const node = this._nodes.get(id);
      if (node) {
        setIfNew(node, 'name', name);
      }
    }, typing);
  }

  /** Renames the model. */
  renameModel(name: string, typing?: string): void {
    this._transact(() => setIfNew(this._meta, 'name', name), typing);
  }

  /** Applies a change in one undo step; consecutive ones with the same `typing` key share it. */
  patch(change: Change, typing?: string): void {
    this._transact(() => {
      this._storePositions();
      for (const [id, note] of Object.entries(change.notes ?? {})) {
        if (note) {
          writeEntry(this._notes, id, note);
        } else {
          this._notes.delete(id);
        }
      }
      for (const [id, edge] of Object.entries(change.edges ?? {})) {
        if (edge) {
          this._writeEdge(edge, undefined, id);
        } else {
          this._edges.delete(id);
        }
      }
      for (const [id, node] of Object.entries(change.nodes ?? {})) {
        if (node) {
          this._writeNode(id, node);
        } else {
          this._nodes.delete(id);
          this._positions.delete(id);
        }
      }
      for (const [id, position] of Object.entries(change.positions ?? {})) {
        if (position) {
          setIfNew(this._positions, id, position);
        } else {
          this._positions.delete(id);
        }
      }
      for (const part of ['groups', 'ties'] as const) {
        const entries = Object.entries({
          ...this.snapshot()[part],
          ...change[part]
        }).filter(([, word]) => word !== null);
        if (change[part]) {
          setIfNew(this._meta, part, Object.fromEntries(entries));
        }
      }
    }, typing);
  }

  /**
   * Makes the document equal to `graph`, writing only differences.
   * Without an undo step by default: undo must not empty a file that was opened.
   */
  load(graph: GraphData, options: { undoable?: boolean } = {}): void {
    const change = () => {
      dropOthers(this._nodes, graph.nodes);
      dropOthers(this._edges, graph.edges);
      dropOthers(this._positions, graph.positions);
      dropOthers(this._notes, graph.notes ?? {});
      Object.entries(graph.nodes).forEach(([id, node], order) =>
        this._writeNode(id, node, order)
      );
      Object.entries(graph.edges).forEach(([id, edge], order) =>
        writeEntry(this._edges, id, { ...edge, order })
      );
      for (const [id, position] of Object.entries(graph.positions)) {
        setIfNew(this._positions, id, position);
      }
      for (const [id, note] of Object.entries(graph.notes ?? {})) {
        writeEntry(this._notes, id, note);
      }
      setIfNew(this._meta, 'name', graph.name);
      setIfNew(this._meta, 'version', graph.version);
      for (const part of ['groups', 'ties'] as const) {
        const table = graph[part];
        if (table) {
          setIfNew(this._meta, part, table);
        } else {
          this._meta.delete(part);
        }
      }
    };
    if (options.undoable) {
      this._transact(change);
    } else {
      this.endTyping();
      this.ydoc.transact(change, 'load');
    }
  }

  // --- undo ---

  undo(): void {
    if (this.canUndo()) {
      this.endTyping();
      this.undoManager.undo();
    }
  }

  redo(): void {
    if (this.canRedo()) {
      this.endTyping();
      this.undoManager.redo();
    }
  }

  readonly canUndo = (): boolean =>
    !this.lock.state() && this.undoManager.undoStack.length > 0;

  readonly canRedo = (): boolean =>
    !this.lock.state() && this.undoManager.redoStack.length > 0;

  /** Calls the listener when the availability of undo or redo may have changed. */
  readonly subscribeHistory = (listener: () => void): (() => void) => {
    const events = [
      'stack-item-added',
      'stack-item-popped',
      'stack-cleared'
    ] as const;
    events.forEach(event => this.undoManager.on(event, listener));
    const stop = this.lock.subscribe(listener);
    return () => {
      events.forEach(event => this.undoManager.off(event, listener));
      stop();
    };
  };

  /** Starts a new undo step with the next change, even in the same field. */
  endTyping(): void {
    this._typing = undefined;
    this.undoManager.stopCapturing();
  }

  // --- inside a transaction ---

  private _transact(change: () => void, typing?: string): void {
    if (this.lock.state()) {
      return;
    }
    const manager = this.undoManager;
    const timeout = manager.captureTimeout;
    if (typing !== undefined && typing === this._typing) {
      // All typing in a field is one undo step until the field loses the focus.
      manager.captureTimeout = Infinity;
    } else {
      manager.stopCapturing();
    }
    this._typing = typing;
    try {
      this.ydoc.transact(change, this);
    } finally {
      manager.captureTimeout = timeout;
    }
  }

  private _storePositions(): void {
    const shown = Object.entries(this.shownAt?.() ?? {});
    this._writePositions(
      Object.fromEntries(shown.filter(([id]) => !this._positions.has(id)))
    );
  }

  private _writePositions(positions: { [id: string]: Position }): void {
    for (const [id, position] of Object.entries(positions)) {
      if (this._nodes.has(id) || isBlock(id)) {
        setIfNew(this._positions, id, position);
      } else if (this._notes.has(id)) {
        writeEntry(this._notes, id, { x: position[0], y: position[1] });
      }
    }
  }

  private _writeNode(id: string, node: NodeData, order?: number): void {
    const { params, shares, ...rest } = node;
    const ranked = { ...rest, order: order ?? orderOf(this._nodes, id) };
    writeEntry(this._nodes, id, shares ? { ...ranked, shares } : ranked);
    if (!shares) {
      this._nodes.get(id)?.delete('shares');
    }
    const held = this._params(id);
    dropOthers(held, params);
    for (const [key, value] of Object.entries(params)) {
      setIfNew(held, key, value);
    }
  }

  /** Moves the settings of a removed layer to the first node that shares it. */
  private _reassignShared(gone: Set<string>): void {
    const heirs = new Map<string, string>();
    const nodes = this.snapshot().nodes;
    for (const [id, node] of Object.entries(nodes)) {
      if (!node.shares || gone.has(id) || !gone.has(node.shares)) {
        continue;
      }
      const heir = heirs.get(node.shares);
      if (heir) {
        this._writeNode(id, { ...node, shares: heir });
      } else {
        heirs.set(node.shares, id);
        const params = nodes[node.shares]?.params ?? {};
        this._writeNode(id, { ...node, params, shares: '' });
      }
    }
  }

  private _writeParam(id: string, key: string, value: Json | undefined): void {
    if (!this._nodes.has(id)) {
      return;
    }
    const params = this._params(id);
    if (value === undefined) {
      params.delete(key);
    } else {
      setIfNew(params, key, value);
    }
  }

  /** Replaces edges; an edge into the port of a replaced one takes its order. */
  private _replaceEdges(replaced: string[], edges: EdgeData[]): string[] {
    const freed = new Map<string, unknown>();
    for (const old of replaced) {
      const entry = this._edges.get(old);
      if (entry) {
        const port = `${entry.get('target')} ${entry.get('target_port')}`;
        freed.set(port, entry.get('order'));
      }
    }
    const ids = edges.map(edge =>
      this._writeEdge(edge, freed.get(`${edge.target} ${edge.target_port}`))
    );
    // Removed last, so that no other new edge takes the order of these.
    replaced.forEach(old => this._edges.delete(old));
    return ids;
  }

  private _writeEdge(
    edge: EdgeData,
    freed?: unknown,
    id = newId('e', this._edges)
  ): string {
    writeEntry(this._edges, id, {
      ...edge,
      order: freed ?? orderOf(this._edges, id)
    });
    return id;
  }

  private _params(id: string): Y.Map<unknown> {
    const node = this._nodes.get(id) as Entry;
    const held = node.get('params');
    if (held instanceof Y.Map) {
      return held;
    }
    const params = new Y.Map<unknown>();
    node.set('params', params);
    return params;
  }

  private _names(): Set<string> {
    const names = new Set<string>();
    this._nodes.forEach(node => names.add(String(node.get('name'))));
    return names;
  }

  private readonly _nodes: Y.Map<Entry>;
  private readonly _edges: Y.Map<Entry>;
  private readonly _positions: Y.Map<Position>;
  private readonly _meta: Y.Map<unknown>;
  private readonly _notes: Y.Map<Entry>;
  private readonly _reader: Reader;
  private readonly _ownsManager: boolean;
  private _typing: string | undefined;
}
