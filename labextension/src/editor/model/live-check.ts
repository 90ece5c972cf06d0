// Checks the graph after every change: immediately, but one request at a time.
import { CheckStore } from './check-store';
import { GraphDocument } from './document';
import { EditorHost } from '../host';
import { GraphData } from './graph-data';

export class LiveCheck {
  constructor(
    private readonly _document: GraphDocument,
    private readonly _host: EditorHost,
    private readonly _store: CheckStore
  ) {}

  /** Checks now and after each change; returns a function that stops. */
  start(): () => void {
    this._stopped = false;
    const stop = this._document.subscribe(() => {
      if (!this._isChecked(this._document.snapshot())) {
        void this._check(); // before the page redraws, so that both run in parallel
      }
    });
    void this._check();
    return () => {
      this._stopped = true;
      stop();
    };
  }

  /** Checks again without a change. */
  retry(): void {
    this._checkedGraph = undefined;
    void this._check();
  }

  private _isChecked(graph: GraphData): boolean {
    return (
      this._checkedGraph?.nodes === graph.nodes &&
      this._checkedGraph.edges === graph.edges
    );
  }

  private async _check(): Promise<void> {
    if (this._busy) {
      return; // the pending request notices that it is outdated and repeats itself
    }
    this._busy = true;
    const graph = this._document.snapshot();
    this._checkedGraph = graph;
    this._store.checking();
    let tell: () => void;
    try {
      const result = await this._host.check(graph);
      tell = () => this._store.answer(result);
    } catch (error) {
      // Any failure must be visible to the user.
      const message = error instanceof Error ? error.message : String(error);
      tell = () => this._store.failed(message);
    }
    this._busy = false;
    if (this._stopped) {
      return;
    }
    if (this._isChecked(this._document.snapshot())) {
      tell();
    } else {
      void this._check();
    }
  }

  private _checkedGraph: GraphData | undefined;
  private _busy = false;
  private _stopped = false;
}
