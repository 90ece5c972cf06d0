// Stores the unsaved changes of a document in the browser, and offers those of a closed page.

import { DocumentRegistry } from '@jupyterlab/docregistry';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { sameJson } from '../../editor';
import type { LabDLModel } from './document';
import { Kept, Owner, RecoveryStore } from './recovery-store';

const DELAY = 500; // ms: a crash loses the changes of this time
const LIFETIME = 30 * 24 * 3600 * 1000;

export interface RecoveryOptions {
  context: DocumentRegistry.IContext<LabDLModel>;
  store: RecoveryStore;
  server: string;
  page: string;
  livingPages: () => Promise<Set<string>>;
  isOn: () => boolean;
  /** Called once if changes cannot be stored. */
  failed: (error: unknown) => void;
}

export class Recovery implements IDisposable {
  constructor(private readonly _options: RecoveryOptions) {
    const { context } = _options;
    const { model } = context;
    this._path = context.path;
    void context.ready.then(() => {
      // A collaborative document is stored on the server.
      if (model.collaborative || this._isDisposed) {
        return;
      }
      model.contentChanged.connect(this._onContent, this);
      model.stateChanged.connect(this._onState, this);
      context.saveState.connect(this._onSaving, this);
      context.pathChanged.connect(this._onPath, this);
      window.addEventListener('pagehide', this._flush);
      document.addEventListener('visibilitychange', this._flush);
      void this._reportErrors(this._findOffers());
    });
    context.disposed.connect(this.dispose, this);
  }

  /** Latest changes of another page, or null. */
  readonly offer = (): Kept | null => this._offers[0]?.kept ?? null;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._changed.connect(listener);
    return () => void this._changed.disconnect(listener);
  };

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Loads the offered changes into the document, as one step that can be undone. */
  readonly restore = (): void => {
    const kept = this.offer();
    if (kept) {
      const { graph } = this._options.context.model;
      graph.lock.editAnyway();
      graph.load(kept.graph, { undoable: true });
      this._flush();
      this.discard();
    }
  };

  /** Deletes the offered changes. */
  readonly discard = (): void => {
    const [first, ...rest] = this._offers;
    if (first) {
      this._offers = rest;
      this._changed.emit();
      void this._reportErrors(this._options.store.delete(first.owner));
    }
  };

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** The document is closed: unsaved changes were discarded. */
  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      window.removeEventListener('pagehide', this._flush);
      document.removeEventListener('visibilitychange', this._flush);
      this._clear();
      Signal.clearData(this);
    }
  }

  private async _findOffers(): Promise<void> {
    const { context, store, server, livingPages } = this._options;
    if (!this._options.isOn()) {
      return;
    }
    const living = await livingPages();
    const found: Offer[] = [];
    for (const owner of await store.owners()) {
      if (owner.server !== server || living.has(owner.page)) {
        continue;
      }
      const kept = await store.get(owner);
      const isOurs = owner.path === this._path;
      const isLost = kept && Date.now() - kept.at < LIFETIME;
      if (kept && isOurs && isLost && !this._equalsFile(kept)) {
        found.push({ owner, kept });
      } else if (isOurs || !isLost) {
        await store.delete(owner);
      }
    }
    if (found.length && !context.isDisposed) {
      this._offers = found.sort((a, b) => b.kept.at - a.kept.at);
      this._changed.emit();
    }
  }

  private _equalsFile({ graph }: Kept): boolean {
    const { model } = this._options.context;
    return sameJson(model.graph.snapshot(), graph);
  }

  private _onContent(): void {
    if (this._options.context.model.dirty && this._timer === undefined) {
      this._timer = setTimeout(this._flush, DELAY);
    }
  }

  private _onState(
    _sender: LabDLModel,
    { name, newValue }: { name: string; newValue: unknown }
  ): void {
    if (name === 'dirty' && newValue === false) {
      this._clear();
    }
  }

  /** Changes made during saving are not in the file, although JupyterLab then marks the document as clean. */
  private _onSaving(
    { model }: DocumentRegistry.IContext<LabDLModel>,
    state: DocumentRegistry.SaveState
  ): void {
    const { graph, sharedModel } = model;
    if (state === 'started') {
      graph.applyTyped(); // on a busy page the timer of a field would come after the file was written
      this._saved = sharedModel.edits;
    } else if (state === 'completed' && sharedModel.edits !== this._saved) {
      model.dirty = true;
      this._onContent();
    }
  }

  private _onPath(): void {
    const { context } = this._options;
    this._clear();
    this._path = context.path;
    this._onContent();
  }

  /** Stores pending changes at once. */
  private readonly _flush = (): void => {
    const { context, store, isOn } = this._options;
    clearTimeout(this._timer);
    this._timer = undefined;
    if (this._isDisposed || !isOn() || !context.model.dirty) {
      return;
    }
    const graph = context.model.graph.snapshot();
    if (graph !== this._written) {
      this._written = graph;
      void this._reportErrors(
        store.set(this._owner(), { graph, at: Date.now() })
      );
    }
  };

  private _clear(): void {
    clearTimeout(this._timer);
    this._timer = undefined;
    if (this._written) {
      this._written = undefined;
      void this._reportErrors(this._options.store.delete(this._owner()));
    }
  }

  private _owner(): Owner {
    const { server, page } = this._options;
    return { server, path: this._path, page };
  }

  /** Reports errors: the browser may not allow its database, or may be out of space. */
  private async _reportErrors(attempt: Promise<void>): Promise<void> {
    try {
      await attempt;
    } catch (error) {
      this._options.failed(error);
    }
  }

  private _path: string;
  private _offers: Offer[] = [];
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _written: object | undefined;
  private _saved = 0;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}

interface Offer {
  owner: Owner;
  kept: Kept;
}
