// Reads the shared document into plain data; rereads only changed entries.
import * as Y from 'yjs';

import {
  EdgeData,
  GraphData,
  Json,
  NodeData,
  NoteData,
  Position
} from './graph-data';
import { isNote } from '../notes/notes';

/** A root map of the shared document, read entry by entry. */
class Table<T> {
  constructor(
    private readonly _map: Y.Map<unknown>,
    private readonly _read: (value: unknown) => T,
    private readonly _isOrdered = false
  ) {}

  value: { [id: string]: T } = {};

  observe(invalidate: () => void): () => void {
    const observer = (events: Y.YEvent<Y.AbstractType<unknown>>[]) => {
      for (const event of events) {
        if (event.path.length > 0) {
          this._stale.add(String(event.path[0]));
        } else {
          event.changes.keys.forEach((_, id) => this._stale.add(id));
        }
      }
      invalidate();
    };
    this._map.observeDeep(observer);
    return () => this._map.unobserveDeep(observer);
  }

  refresh(): void {
    if (this._started && this._stale.size === 0) {
      return;
    }
    const entries = this._isOrdered
      ? inOrder(this._map)
      : [...this._map.entries()];
    const next: { [id: string]: T } = {};
    for (const [id, value] of entries) {
      const known = this._started && !this._stale.has(id);
      next[id] = known && id in this.value ? this.value[id] : this._read(value);
    }
    this.value = next;
    this._started = true;
    this._stale.clear();
  }

  private _started = false;
  private readonly _stale = new Set<string>();
}

export class Reader {
  constructor(ydoc: Y.Doc) {
    const map = (name: string) => ydoc.getMap<unknown>(name);
    this._nodes = new Table(map('nodes'), readNode, true);
    this._edges = new Table(map('edges'), readEdge, true);
    this._positions = new Table(map('positions'), readPosition);
    this._meta = new Table(map('meta'), plain);
    this._notes = new Table(map('notes'), readNote);
    const invalidate = () => {
      this._snapshot = undefined;
    };
    const stops = [
      this._nodes.observe(invalidate),
      this._edges.observe(invalidate),
      this._positions.observe(invalidate),
      this._meta.observe(invalidate),
      this._notes.observe(invalidate)
    ];
    let announced: GraphData | undefined;
    const announce = () => {
      if (this._snapshot === undefined || this._snapshot !== announced) {
        announced = this.snapshot();
        [...this._listeners].forEach(listener => listener());
      }
    };
    announced = this.snapshot();
    ydoc.on('afterTransaction', announce);
    this.dispose = () => {
      stops.forEach(stop => stop());
      ydoc.off('afterTransaction', announce);
      this._listeners.clear();
    };
  }

  readonly dispose: () => void;

  snapshot(): GraphData {
    if (!this._snapshot) {
      this._nodes.refresh();
      this._edges.refresh();
      this._positions.refresh();
      this._meta.refresh();
      this._notes.refresh();
      const meta = this._meta.value;
      this._snapshot = {
        version: typeof meta.version === 'number' ? meta.version : 1,
        name: typeof meta.name === 'string' ? meta.name : '',
        nodes: this._nodes.value,
        edges: this._edges.value,
        positions: this._positions.value,
        ...this._optionalWords(),
        ...this._optionalNotes()
      };
    }
    return this._snapshot;
  }

  subscribe(listener: () => void): () => void {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  /** Tables of strings; the same objects while the shared map is unchanged. */
  private _optionalWords(): Pick<GraphData, 'groups' | 'ties'> {
    const meta = this._meta.value;
    if (this._rawMeta !== meta) {
      this._rawMeta = meta;
      this._words = {
        ...(meta.groups ? { groups: words(meta.groups) } : {}),
        ...(meta.ties ? { ties: words(meta.ties) } : {})
      };
    }
    return this._words;
  }

  /** The valid notes; the same object while the shared map is unchanged. */
  private _optionalNotes(): { notes?: { [id: string]: NoteData } } {
    if (this._rawNotes !== this._notes.value) {
      this._rawNotes = this._notes.value;
      const found = Object.entries(this._rawNotes).flatMap(([id, note]) =>
        note ? [[id, note] as const] : []
      );
      this._validNotes = found.length ? Object.fromEntries(found) : undefined;
    }
    return this._validNotes ? { notes: this._validNotes } : {};
  }

  private _rawMeta: { [key: string]: Json } | undefined;
  private _words: Pick<GraphData, 'groups' | 'ties'> = {};
  private _rawNotes: { [id: string]: NoteData | null } | undefined;
  private _validNotes: { [id: string]: NoteData } | undefined;
  private _snapshot: GraphData | undefined;
  private readonly _nodes: Table<NodeData>;
  private readonly _edges: Table<EdgeData>;
  private readonly _positions: Table<Position>;
  private readonly _meta: Table<Json>;
  private readonly _notes: Table<NoteData | null>;
  private readonly _listeners = new Set<() => void>();
}

/** Shared types and big integers from Python as plain JSON. */
function plain(value: unknown): Json {
  if (value instanceof Y.AbstractType) {
    return plain(value.toJSON());
  }
  if (typeof value === 'bigint') {
    return Number(value);
  }
  if (Array.isArray(value)) {
    return value.map(plain);
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, plain(item)])
    );
  }
  return value as Json;
}

function readNode(value: unknown): NodeData {
  const node = plain(value) as unknown as NodeData;
  return {
    type: node.type,
    name: node.name,
    params: node.params ?? {},
    ...(node.shares ? { shares: node.shares } : {})
  };
}

/** A table of strings; invalid values count as empty. */
function words(value: Json | undefined): { [key: string]: string } {
  const table = typeof value === 'object' && value !== null ? value : {};
  return Object.fromEntries(
    Object.entries(table).flatMap(([key, word]) =>
      typeof word === 'string' ? [[key, word]] : []
    )
  );
}

function readEdge(value: unknown): EdgeData {
  const edge = plain(value) as unknown as EdgeData;
  return {
    source: edge.source,
    source_port: edge.source_port,
    target: edge.target,
    target_port: edge.target_port
  };
}

/** A note, or null if invalid: other programs may write to the shared document. */
function readNote(value: unknown): NoteData | null {
  const note = plain(value);
  if (!isNote(note)) {
    return null;
  }
  const { text, home, color, x, y, width, height } = note;
  return { text, home, color, x, y, width, height };
}

function readPosition(value: unknown): Position {
  const [x, y] = plain(value) as Position;
  return [x, y];
}

/** Entries by their stored order; ties, from concurrent additions, by id. */
function inOrder(map: Y.Map<unknown>): [string, unknown][] {
  const ranked = [...map.entries()].map(([id, entry]) => {
    const order = entry instanceof Y.Map ? entry.get('order') : undefined;
    return { id, entry, order: Number(order ?? Infinity) };
  });
  ranked.sort((a, b) =>
    a.order !== b.order ? a.order - b.order : a.id < b.id ? -1 : 1
  );
  return ranked.map(({ id, entry }) => [id, entry]);
}
