// The canvas and its Python text: what changes on one is read or written into the other.
import { GraphDocument } from '../model/document';
import { EditorHost } from '../host';
import { GraphData, sameJson } from '../model/graph-data';

export type CodeState =
  /** The text is asked from the host. */
  | 'writing'
  /** Text and canvas say the same. */
  | 'agreed'
  /** A person changed the text; it will be read, or is being read. */
  | 'edited'
  /** The text cannot be read: the canvas stays as it is, and the text too. */
  | 'unreadable'
  /** The canvas cannot be written as text. */
  | 'unwritable';

export interface CodeSnapshot {
  text: string;
  state: CodeState;
  /** Why it is unreadable or unwritable. */
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

  /** Follows the canvas until the returned end. */
  start(): () => void {
    this._stopped = false;
    const stop = this._document.subscribe(this._canvasChanged);
    void this._write();
    return () => {
      this._stopped = true;
      this._turn++;
      clearTimeout(this._timer);
      stop();
    };
  }

  /** A person changed the text. */
  readonly edit = (text: string): void => {
    if (text === this._state.text) {
      return;
    }
    this._set({ text, state: 'edited', message: '', line: null });
    this._later(() => this._read(), this._times.read);
  };

  /** Drops the text for that of the canvas. */
  readonly takeBack = (): void => {
    clearTimeout(this._timer);
    void this._write();
  };

  private readonly _canvasChanged = (): void => {
    if (this._isAgreed(this._document.snapshot())) {
      return; // only something moved
    }
    const { state } = this._state;
    if (state !== 'edited' && state !== 'unreadable') {
      this._later(() => this._write(), this._times.write);
    }
  };

  private async _write(): Promise<void> {
    const turn = ++this._turn;
    const graph = this._document.snapshot();
    this._agreed = graph;
    if (this._state.state !== 'agreed') {
      this._set({ ...this._state, state: 'writing' });
    }
    try {
      const text = await this._host.code(graph);
      if (turn === this._turn) {
        this._set({ text, state: 'agreed', message: '', line: null });
      }
    } catch (error) {
      if (turn === this._turn) {
        const message = sentence(error);
        this._set({ ...this._state, state: 'unwritable', message });
      }
    }
  }

  private async _read(): Promise<void> {
    const turn = ++this._turn;
    const before = this._document.snapshot();
    const { text } = this._state;
    let problem: { message: string; line: number | null } | null;
    let graph: GraphData | null = null;
    try {
      ({ graph, problem } = await this._host.read(text, before));
    } catch (error) {
      // Whatever went wrong on the way, the person at the screen has to know.
      problem = { message: sentence(error), line: null };
    }
    if (turn !== this._turn) {
      return; // the text has changed meanwhile
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
      void this._read(); // what others did meanwhile stays
      return;
    }
    this._take(graph);
    this._set({ text, state: 'agreed', message: '', line: null });
  }

  /** Puts the graph onto the canvas in one step, unless it is there. */
  private _take(graph: GraphData): void {
    const now = this._document.snapshot();
    const isNew = !sameGraph(graph, now);
    // What was moved while the text was read stays where it is.
    const positions = { ...graph.positions };
    for (const id of Object.keys(positions)) {
      positions[id] = now.positions[id] ?? positions[id];
    }
    this._agreed = null;
    if (isNew) {
      const { notes } = now;
      this._document.load({ ...graph, positions, notes }, { undoable: true });
    }
    this._agreed = this._document.snapshot();
    clearTimeout(this._timer);
  }

  private _isAgreed(graph: GraphData): boolean {
    return this._agreed !== null && sameGraph(graph, this._agreed);
  }

  private _later(run: () => Promise<void>, time: number): void {
    this._turn++;
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
  /** The graph that the text says. */
  private _agreed: GraphData | null = null;
  /** Counts questions, so that an answer that comes too late is known. */
  private _turn = 0;
  private _stopped = false;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether two graphs are written as the same text: places do not matter. */
function sameGraph(a: GraphData, b: GraphData): boolean {
  return (
    a.name === b.name &&
    (a.nodes === b.nodes || sameJson(a.nodes, b.nodes)) &&
    (a.edges === b.edges || sameEdges(a, b)) &&
    sameJson(a.groups ?? {}, b.groups ?? {}) &&
    sameJson(a.ties ?? {}, b.ties ?? {})
  );
}

/** Their order means something where a port takes several. */
function sameEdges(a: GraphData, b: GraphData): boolean {
  return sameJson(Object.entries(a.edges), Object.entries(b.edges));
}
