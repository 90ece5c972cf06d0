// Asks the host to check the graph after every change: at once, but never twice at the same time.
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

  /** Checks now and after each change; returns what ends it. */
  start(): () => void {
    this._stopped = false;
    const stop = this._document.subscribe(() => {
      if (!this._isAsked(this._document.snapshot())) {
        void this._ask(); // before the page draws the change, so that both go on side by side
      }
    });
    void this._ask();
    return () => {
      this._stopped = true;
      stop();
    };
  }

  /** Checks again although nothing changed. */
  retry(): void {
    this._asked = undefined;
    void this._ask();
  }

  private _isAsked(graph: GraphData): boolean {
    return (
      this._asked?.nodes === graph.nodes && this._asked.edges === graph.edges
    );
  }

  private async _ask(): Promise<void> {
    if (this._busy) {
      return; // the answer on its way sees that it is stale and asks again
    }
    this._busy = true;
    const graph = this._document.snapshot();
    this._asked = graph;
    this._store.checking();
    let tell: () => void;
    try {
      const result = await this._host.check(graph);
      tell = () => this._store.answer(result);
    } catch (error) {
      // Whatever went wrong on the way, the person at the screen has to know.
      const message = error instanceof Error ? error.message : String(error);
      tell = () => this._store.failed(message);
    }
    this._busy = false;
    if (this._stopped) {
      return;
    }
    if (this._isAsked(this._document.snapshot())) {
      tell();
    } else {
      void this._ask();
    }
  }

  private _asked: GraphData | undefined;
  private _busy = false;
  private _stopped = false;
}
