// Stored favorites, recently used layers and saved blocks.

/** Favorites and saved blocks of the user. */
export interface SavedItems {
  /** Types of layers, in the order in which they were marked. */
  readonly favorites: readonly string[];
  /** Fragments as text, by name. */
  readonly blocks: { readonly [name: string]: string };
}

export interface Remembered extends SavedItems {
  /** Types of layers, the last used first. */
  readonly recent: readonly string[];
}

/** Storage of a host, used instead of the browser's. */
export interface HostStorage {
  /** Null while loading. */
  state(): SavedItems | null;
  subscribe(listener: () => void): () => void;
  change(edit: (kept: SavedItems) => SavedItems): void;
}

const KEY = 'labdl:palette';
/** Set once the items of this browser have been copied to the host's storage. */
const COPIED = 'labdl:palette:copied';
const RECENT = 6;
/** Maximum number of characters of all saved blocks, for every storage. */
export const ROOM = 1_000_000;
const NOTHING: Remembered = { favorites: [], recent: [], blocks: {} };

export class PaletteStorage {
  constructor(
    private readonly _storage: Storage | null = pageStorage(),
    private readonly _hostStorage?: HostStorage
  ) {
    this._local = this._read() ?? NOTHING;
    this._state = this._mergedItems();
  }

  readonly state = (): Remembered => this._state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  /** Follows other editors, in this and other pages; returns a function that stops. */
  readonly start = (): (() => void) => {
    const onStorage = (event: StorageEvent) => {
      if (event.key === KEY) {
        this._local = this._read() ?? this._local;
        this._notify();
      }
    };
    const follow = () => {
      this._copyToHost();
      this._notify();
    };
    window.addEventListener('storage', onStorage);
    const stop = this._hostStorage?.subscribe(follow);
    follow();
    return () => {
      window.removeEventListener('storage', onStorage);
      stop?.();
    };
  };

  /** Adds a layer to the favorites, or removes it. */
  readonly toggle = (type: string): void => {
    const isMarked = this._state.favorites.includes(type);
    this._change(kept => {
      const rest = kept.favorites.filter(other => other !== type);
      return { ...kept, favorites: isMarked ? rest : [...rest, type] };
    });
  };

  /** Records a layer as recently used. */
  readonly use = (type: string): void => {
    const rest = this._local.recent.filter(other => other !== type);
    this._write({ ...this._local, recent: [type, ...rest].slice(0, RECENT) });
  };

  /** Saves a block, replacing one with the same name; false if the storage is full. */
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
    if (this._hostStorage?.state()) {
      this._hostStorage.change(edit);
      this._notify();
    } else {
      this._write({ ...this._local, ...edit(this._local) });
    }
  }

  /** Copies the items of this browser to the host's storage, once; other editors still use the original. */
  private _copyToHost(): void {
    const there = this._hostStorage?.state();
    try {
      if (!there || this._storage?.getItem(COPIED)) {
        return;
      }
      this._storage?.setItem(COPIED, 'true');
    } catch {
      // Storage is forbidden, so there is nothing to copy.
      return;
    }
    const { favorites, blocks } = this._local;
    const add = (kept: SavedItems): SavedItems => ({
      favorites: [...new Set([...kept.favorites, ...favorites])],
      blocks: { ...blocks, ...kept.blocks }
    });
    const isAny = favorites.length + Object.keys(blocks).length > 0;
    if (isAny && lengthOf(add(there)) <= ROOM) {
      this._hostStorage?.change(add);
    }
  }

  private _write(next: Remembered): void {
    this._local = next;
    this._notify();
    try {
      this._storage?.setItem(KEY, JSON.stringify(next));
    } catch {
      // Storage is full or forbidden: the items last until the page closes.
      return;
    }
    // The browser notifies only other pages.
    window.dispatchEvent(new StorageEvent('storage', { key: KEY }));
  }

  private _mergedItems(): Remembered {
    return { ...this._local, ...this._hostStorage?.state() };
  }

  private _notify(): void {
    const next = this._mergedItems();
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
      // Nothing stored, an invalid value, or storage is forbidden.
      return null;
    }
  }

  /** Items in the storage of this browser. */
  private _local: Remembered;
  private _state: Remembered;
  private readonly _listeners = new Set<() => void>();
}

/** The valid items among stored values. */
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

/** The page's storage, or null if the browser denies access. */
function pageStorage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}
