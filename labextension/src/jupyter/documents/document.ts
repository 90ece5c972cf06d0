// A model graph as a JupyterLab document: shared data and document model.

import { DocumentChange, YDocument } from '@jupyter/ydoc';
import { IChangedArgs } from '@jupyterlab/coreutils';
import { DocumentRegistry } from '@jupyterlab/docregistry';
import {
  JSONValue,
  PartialJSONValue,
  ReadonlyPartialJSONValue
} from '@lumino/coreutils';
import { ISignal, Signal } from '@lumino/signaling';
import * as Y from 'yjs';

import { GraphDocument, applyResolution } from '../../editor';
import type { GraphData } from '../../editor';

/** Change of the document; `graph` is set if the graph itself changed, and not only its state. */
export interface LabDLChange extends DocumentChange {
  graph?: boolean;
}

/** File as the server sends it: the graph, and the reason if it is read-only. */
type Source = GraphData & { read_only?: string };

const ROOTS = ['nodes', 'edges', 'positions', 'meta', 'notes'];

/** Shared document: the graph's maps are in the same Y document as JupyterLab's own state. */
export class LabDLDocument extends YDocument<LabDLChange> {
  readonly version = '1.0.0';
  readonly graph: GraphDocument;

  constructor() {
    super();
    this.graph = new GraphDocument(this.ydoc, this.undoManager);
    this._roots = ROOTS.map(name => this.ydoc.getMap(name));
    this._file.observe(this._onFile);
    this.ydoc.on('afterTransaction', this._onTransaction);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.ydoc.off('afterTransaction', this._onTransaction);
      this._file.unobserve(this._onFile);
      this.graph.dispose();
      super.dispose();
    }
  }

  /** Whether there is something to save, in the state that pages share; JupyterLab has it from 4.6 on in YDocument itself. */
  override get dirty(): boolean {
    return this.ystate.get('dirty') === true;
  }
  override set dirty(value: boolean) {
    this.transact(() => this.setState('dirty', value), false);
  }

  getSource(): JSONValue {
    const reason = this._reason;
    const source: Source = {
      ...this.graph.snapshot(),
      // Makes the server refuse to overwrite a file that was only partially read.
      ...(reason && { read_only: reason })
    };
    return source as unknown as JSONValue;
  }

  /** Number of changes by the person here, without loading. */
  get edits(): number {
    return this._edits;
  }

  /** Loads the contents of the file; the document is clean afterwards. */
  setSource(value: JSONValue | string): void {
    const data = (typeof value === 'string'
      ? JSON.parse(value)
      : value) as unknown as Source;
    const { read_only: reason = '', ...graph } = data;
    this._loading = true;
    try {
      this.graph.load(graph);
    } finally {
      this._loading = false;
    }
    this._lock(reason);
    this.dirty = false;
  }

  private _lock(reason: string): void {
    this._reason = reason;
    this.graph.lock.setReason('format', reason);
  }

  /** A server that holds the document for several people writes the reason for read-only here. */
  private readonly _onFile = (): void =>
    this._lock(String(this._file.get('reason') ?? ''));

  /** Emits one change for each transaction, however many of the maps it touched. */
  private readonly _onTransaction = (transaction: Y.Transaction): void => {
    const touched: unknown[] = [...transaction.changedParentTypes.keys()];
    if (!this._roots.some(root => touched.includes(root))) {
      return;
    }
    // YDocument marks itself as changed only on undo and redo; changes by others are theirs to save
    if (transaction.local && !this._loading) {
      this._edits++;
      this.dirty = true;
    }
    this._changed.emit({ graph: true });
    // Concurrent changes may conflict with ours, and undo does not know the others' changes.
    const isMerged =
      !transaction.local || transaction.origin === this.undoManager;
    if (isMerged && !this.graph.lock.state()) {
      const { nodes, edges } = this.graph.snapshot();
      if (this._resolved?.nodes !== nodes || this._resolved.edges !== edges) {
        applyResolution(this.ydoc, this.graph.snapshot());
        this._resolved = { nodes, edges };
      }
    }
  };

  private readonly _roots: Y.Map<unknown>[];
  private readonly _file = this.ydoc.getMap<unknown>('file');
  private _loading = false;
  /** Nodes and edges without conflicts, or whose conflicts were resolved by a later transaction. */
  private _resolved: Pick<GraphData, 'nodes' | 'edges'> | undefined;
  private _edits = 0;
  private _reason = '';
}

export class LabDLModel implements DocumentRegistry.IModel {
  readonly sharedModel: LabDLDocument;
  readonly collaborative: boolean;
  readonly defaultKernelName = '';
  readonly defaultKernelLanguage = 'python';

  constructor(options: DocumentRegistry.IModelOptions<LabDLDocument> = {}) {
    this.sharedModel = options.sharedModel ?? new LabDLDocument();
    this.collaborative = options.collaborationEnabled ?? false;
    this.sharedModel.changed.connect(this._onChanged, this);
    this._readOnly = this.readOnly;
    this._stopWatching = this.graph.lock.subscribe(() => this._onLock());
  }

  get graph(): GraphDocument {
    return this.sharedModel.graph;
  }

  get contentChanged(): ISignal<this, void> {
    return this._contentChanged;
  }

  get stateChanged(): ISignal<this, IChangedArgs<unknown>> {
    return this._stateChanged;
  }

  get dirty(): boolean {
    return this.sharedModel.dirty;
  }
  set dirty(value: boolean) {
    if (value !== this.dirty) {
      this.sharedModel.dirty = value;
    }
  }

  /** Whether there is a reason for read-only; the setter has no reason to give. */
  get readOnly(): boolean {
    return this.graph.lock.state() !== null;
  }
  set readOnly(newValue: boolean) {
    const reason = newValue ? 'This document is read-only.' : '';
    this.graph.lock.setReason('model', reason);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._stopWatching();
      Signal.clearData(this);
    }
  }

  toString(): string {
    return JSON.stringify(this.sharedModel.getSource());
  }

  fromString(value: string): void {
    this.sharedModel.setSource(value);
  }

  toJSON(): PartialJSONValue {
    return this.sharedModel.getSource();
  }

  fromJSON(value: ReadonlyPartialJSONValue): void {
    this.sharedModel.setSource(value as JSONValue);
  }

  private _onChanged(_sender: LabDLDocument, change: LabDLChange): void {
    for (const { name, oldValue, newValue } of change.stateChange ?? []) {
      if (oldValue !== newValue) {
        this._stateChanged.emit({ name, oldValue, newValue });
      }
    }
    if (change.graph) {
      this._contentChanged.emit();
    }
  }

  private _onLock(): void {
    const oldValue = this._readOnly;
    const newValue = this.readOnly;
    if (newValue !== oldValue) {
      this._readOnly = newValue;
      this._stateChanged.emit({ name: 'readOnly', oldValue, newValue });
    }
  }

  private _contentChanged = new Signal<this, void>(this);
  private _stateChanged = new Signal<this, IChangedArgs<unknown>>(this);
  private _readOnly: boolean;
  private readonly _stopWatching: () => void;
  private _isDisposed = false;
}
