// Synchronizes the canvas with its Python code in both directions.
import { GraphDocument } from '../model/document';
import { EditorHost } from '../host';
import { GraphData, sameJson } from '../model/graph-data';

export type CodeState =
  /** The host is generating the code. */
  | 'writing'
  /** Code and canvas agree. */
  | 'agreed'
  /** The user changed the code; it will be parsed, or is being parsed. */
  | 'edited'
  /** The code cannot be parsed; code and canvas stay as they are. */
  | 'unreadable'
  /** No code can be generated from the canvas. */
  | 'unwritable';

export interface CodeSnapshot {
  text: string;
  state: CodeState;
  /** Error message of `unreadable` and `unwritable`. */
  message: string;
  line: number | null;
}

export class CodeText {
  constructor(
    private readonly _document: GraphDocument,
    private readonly _host: Pick<EditorHost, 'code' | 'read'>,
    private readonly _times = { read: 600, write: 150 }
  ) {}

  readonly state = (): CodeSnapshot => this._state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  /** Follows the canvas; returns a function that stops. */
  start(): () => void {
    this._stopped = false;
    const stop = this._document.subscribe(this._onCanvasChange);
    void this._write();
    return () => {
      this._stopped = true;
      this._requestCount++;
      clearTimeout(this._timer);
      stop();
    };
  }

  /** Handles an edit of the code by the user. */
  readonly edit = (text: string): void => {
    if (text === this._state.text) {
      return;
    }
    this._set({ text, state: 'edited', message: '', line: null });
    this._schedule(() => this._read(), this._times.read);
  };

  /** Replaces the code with that of the canvas. */
  readonly takeBack = (): void => {
    clearTimeout(this._timer);
    void this._write();
  };

  private readonly _onCanvasChange = (): void => {
    if (this._isInSync(this._document.snapshot())) {
      return; // only positions changed
    }
    const { state } = this._state;
    if (state !== 'edited' && state !== 'unreadable') {
      this._schedule(() => this._write(), this._times.write);
    }
  };

  private async _write(): Promise<void> {
    const request = ++this._requestCount;
    const graph = this._document.snapshot();
    this._syncedGraph = graph;
    if (this._state.state !== 'agreed') {
      this._set({ ...this._state, state: 'writing' });
    }
    try {
      const text = await this._host.code(graph);
      if (request === this._requestCount) {
        this._set({ text, state: 'agreed', message: '', line: null });
      }
    } catch (error) {
      if (request === this._requestCount) {
        const message = errorMessage(error);
        this._set({ ...this._state, state: 'unwritable', message });
      }
    }
  }

  private async _read(): Promise<void> {
    const request = ++this._requestCount;
    const before = this._document.snapshot();
    const { text } = this._state;
    let problem: { message: string; line: number | null } | null;
    let graph: GraphData | null = null;
    try {
      ({ graph, problem } = await this._host.read(text, before));
    } catch (error) {
      // Any failure must be visible to the user.
      problem = { message: errorMessage(error), line: null };
    }
    if (request !== this._requestCount) {
      return; // the code has changed in the meantime
    }
    if (problem || !graph) {
      this._set({
        text,
        state: 'unreadable',
        message: problem?.message ?? '',
        line: problem?.line ?? null
      });
      return;
    }
    if (!sameGraph(before, this._document.snapshot())) {
      void this._read(); // parse again, so that changes by others are kept
      return;
    }
    this._loadGraph(graph);
    this._set({ text, state: 'agreed', message: '', line: null });
  }

  /** Loads the graph into the document as one undo step, unless they are equal. */
  private _loadGraph(graph: GraphData): void {
    const now = this._document.snapshot();
    const isNew = !sameGraph(graph, now);
    // Nodes that were moved during parsing keep their new positions.
    const positions = { ...graph.positions };
    for (const id of Object.keys(positions)) {
      positions[id] = now.positions[id] ?? positions[id];
    }
    this._syncedGraph = null;
    if (isNew) {
      const { notes } = now;
      this._document.load({ ...graph, positions, notes }, { undoable: true });
    }
    this._syncedGraph = this._document.snapshot();
    clearTimeout(this._timer);
  }

  private _isInSync(graph: GraphData): boolean {
    return this._syncedGraph !== null && sameGraph(graph, this._syncedGraph);
  }

  private _schedule(run: () => Promise<void>, time: number): void {
    this._requestCount++;
    clearTimeout(this._timer);
    this._timer = setTimeout(() => {
      if (!this._stopped) {
        void run();
      }
    }, time);
  }

  private _set(state: CodeSnapshot): void {
    this._state = state;
    [...this._listeners].forEach(listener => listener());
  }

  private _state: CodeSnapshot = {
    text: '',
    state: 'writing',
    message: '',
    line: null
  };
  private readonly _listeners = new Set<() => void>();
  /** The graph that the code describes. */
  private _syncedGraph: GraphData | null = null;
  /** Counts requests, to recognize outdated answers. */
  private _requestCount = 0;
  private _stopped = false;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether two graphs have the same code: positions are ignored. */
function sameGraph(a: GraphData, b: GraphData): boolean {
  return (
    a.name === b.name &&
    (a.nodes === b.nodes || sameJson(a.nodes, b.nodes)) &&
    (a.edges === b.edges || sameEdges(a, b)) &&
    sameJson(a.groups ?? {}, b.groups ?? {}) &&
    sameJson(a.ties ?? {}, b.ties ?? {})
  );
}

/** The order of edges matters for variadic ports. */
function sameEdges(a: GraphData, b: GraphData): boolean {
  return sameJson(Object.entries(a.edges), Object.entries(b.edges));
}
