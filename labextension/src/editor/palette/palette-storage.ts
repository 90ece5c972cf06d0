// Which layers a person marked, which were used last, and which blocks are kept: remembered across reloads.

/** What a person put into the palette. */
export interface SavedItems {
  /** Types of layers, in the order in which they were marked. */
  readonly favorites: readonly string[];
  /** Pieces of graphs as texts, by the names under which they are kept. */
  readonly blocks: { readonly [name: string]: string };
}

export interface Remembered extends SavedItems {
  /** Types of layers, the last used first. */
  readonly recent: readonly string[];
}

/** A better place than this browser for what a person keeps. */
export interface KeptElsewhere {
  /** Null until it is known. */
  state(): SavedItems | null;
  subscribe(listener: () => void): () => void;
  change(edit: (kept: SavedItems) => SavedItems): void;
}

const KEY = 'labdl:palette';
/** There once what this browser kept has been copied elsewhere. */
const COPIED = 'labdl:palette:copied';
const RECENT = 6;
/** Characters of all kept blocks: so much every place takes. */
export const ROOM = 1_000_000;
const NOTHING: Remembered = { favorites: [], recent: [], blocks: {} };

export class PaletteStorage {
  constructor(
    private readonly _storage: Storage | null = pageStorage(),
    private readonly _elsewhere?: KeptElsewhere
  ) {
    this._local = this._read() ?? NOTHING;
    this._state = this._whole();
  }

  readonly state = (): Remembered => this._state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  /** Follows other editors, in this page and in others, until the returned end. */
  readonly start = (): (() => void) => {
    const changed = (event: StorageEvent) => {
      if (event.key === KEY) {
        this._local = this._read() ?? this._local;
        this._tell();
      }
    };
    const follow = () => {
      this._copy();
      this._tell();
    };
    window.addEventListener('storage', changed);
    const stop = this._elsewhere?.subscribe(follow);
    follow();
    return () => {
      window.removeEventListener('storage', changed);
      stop?.();
    };
  };

  /** Marks a layer as a favorite, or takes the mark away. */
  readonly toggle = (type: string): void => {
    const isMarked = this._state.favorites.includes(type);
    this._change(kept => {
      const rest = kept.favorites.filter(other => other !== type);
      return { ...kept, favorites: isMarked ? rest : [...rest, type] };
    });
  };

  /** Notes that a layer was used. */
  readonly use = (type: string): void => {
    const rest = this._local.recent.filter(other => other !== type);
    this._write({ ...this._local, recent: [type, ...rest].slice(0, RECENT) });
  };

  /** Keeps a piece of a graph, in the place of one of that name; false if there is no room. */
  readonly keepBlock = (name: string, text: string): boolean => {
    const add = (kept: SavedItems) => ({
      ...kept,
      blocks: { ...kept.blocks, [name]: text }
    });
    if (lengthOf(add(this._state)) > ROOM) {
      return false;
    }
    this._change(add);
    return true;
  };

  readonly dropBlock = (name: string): void =>
    this._change(kept => {
      const { [name]: _, ...blocks } = kept.blocks;
      return { ...kept, blocks };
    });

  private _change(edit: (kept: SavedItems) => SavedItems): void {
    if (this._elsewhere?.state()) {
      this._elsewhere.change(edit);
      this._tell();
    } else {
      this._write({ ...this._local, ...edit(this._local) });
    }
  }

  /** What this browser kept before goes there too, once; for other editors it stays here. */
  private _copy(): void {
    const there = this._elsewhere?.state();
    try {
      if (!there || this._storage?.getItem(COPIED)) {
        return;
      }
      this._storage?.setItem(COPIED, 'true');
    } catch {
      // Forbidden: then nothing was kept here either.
      return;
    }
    const { favorites, blocks } = this._local;
    const add = (kept: SavedItems): SavedItems => ({
      favorites: [...new Set([...kept.favorites, ...favorites])],
      blocks: { ...blocks, ...kept.blocks }
    });
    const isAny = favorites.length + Object.keys(blocks).length > 0;
    if (isAny && lengthOf(add(there)) <= ROOM) {
      this._elsewhere?.change(add);
    }
  }

  private _write(next: Remembered): void {
    this._local = next;
    this._tell();
    try {
      this._storage?.setItem(KEY, JSON.stringify(next));
    } catch {
      // Full, or forbidden meanwhile: it is remembered until the page goes.
      return;
    }
    // The browser tells other pages only.
    window.dispatchEvent(new StorageEvent('storage', { key: KEY }));
  }

  private _whole(): Remembered {
    return { ...this._local, ...this._elsewhere?.state() };
  }

  private _tell(): void {
    const next = this._whole();
    if (JSON.stringify(next) !== JSON.stringify(this._state)) {
      this._state = next;
      [...this._listeners].forEach(listener => listener());
    }
  }

  private _read(): Remembered | null {
    try {
      const kept: unknown = JSON.parse(this._storage?.getItem(KEY) ?? 'null');
      const { recent } = kept as Partial<Remembered>;
      return {
        recent: typesIn(recent),
        ...keptIn(kept as Partial<SavedItems>)
      };
    } catch {
      // Nothing was kept, another program's text, or storage is forbidden.
      return null;
    }
  }

  /** What this browser remembers. */
  private _local: Remembered;
  private _state: Remembered;
  private readonly _listeners = new Set<() => void>();
}

/** What is kept, as far as it is of the right kind. */
export function keptIn(values: {
  [Key in keyof SavedItems]?: unknown;
}): SavedItems {
  return {
    favorites: typesIn(values.favorites),
    blocks: textsIn(values.blocks)
  };
}

function lengthOf({ blocks }: SavedItems): number {
  return Object.entries(blocks).reduce(
    (sum, [name, text]) => sum + name.length + text.length,
    0
  );
}

function typesIn(list: unknown): string[] {
  return Array.isArray(list)
    ? list.filter((type): type is string => typeof type === 'string')
    : [];
}

function textsIn(table: unknown): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(typeof table === 'object' && table ? table : {}).filter(
      ([, text]) => typeof text === 'string'
    )
  ) as { [name: string]: string };
}

/** The page's storage, or null where the browser forbids even to ask for it. */
function pageStorage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}
