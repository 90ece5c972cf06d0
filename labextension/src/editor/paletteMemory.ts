// Which layers a person marked and which were used last, remembered across reloads.

export interface Remembered {
  /** Types of layers, in the order in which they were marked. */
  readonly favourites: readonly string[];
  /** Types of layers, the last used first. */
  readonly recent: readonly string[];
  /** Pieces of graphs as texts, by the names under which they are kept. */
  readonly blocks: { readonly [name: string]: string };
}

const KEY = 'labdl:palette';
const RECENT = 6;
const NOTHING: Remembered = { favourites: [], recent: [], blocks: {} };

export class PaletteMemory {
  constructor(private readonly _storage: Storage | null = pageStorage()) {
    this._state = this._read() ?? NOTHING;
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
        this._take(this._read());
      }
    };
    window.addEventListener('storage', changed);
    return () => window.removeEventListener('storage', changed);
  };

  /** Marks a layer as a favourite, or takes the mark away. */
  readonly toggle = (type: string): void => {
    const { favourites } = this._state;
    const rest = favourites.filter(other => other !== type);
    const isMarked = rest.length < favourites.length;
    this._keep({
      ...this._state,
      favourites: isMarked ? rest : [...rest, type]
    });
  };

  /** Notes that a layer was used. */
  readonly use = (type: string): void => {
    const rest = this._state.recent.filter(other => other !== type);
    this._keep({ ...this._state, recent: [type, ...rest].slice(0, RECENT) });
  };

  /** Keeps a piece of a graph, in the place of one of that name. */
  readonly keepBlock = (name: string, text: string): void => {
    const { blocks } = this._state;
    this._keep({ ...this._state, blocks: { ...blocks, [name]: text } });
  };

  readonly dropBlock = (name: string): void => {
    const { [name]: _, ...blocks } = this._state.blocks;
    this._keep({ ...this._state, blocks });
  };

  private _keep(next: Remembered): void {
    this._take(next);
    try {
      this._storage?.setItem(KEY, JSON.stringify(next));
    } catch {
      // Full, or forbidden meanwhile: it is remembered until the page goes.
      return;
    }
    // The browser tells other pages only.
    window.dispatchEvent(new StorageEvent('storage', { key: KEY }));
  }

  private _take(next: Remembered | null): void {
    if (next && JSON.stringify(next) !== JSON.stringify(this._state)) {
      this._state = next;
      [...this._listeners].forEach(listener => listener());
    }
  }

  private _read(): Remembered | null {
    try {
      const kept: unknown = JSON.parse(this._storage?.getItem(KEY) ?? 'null');
      const { favourites, recent, blocks } = kept as Partial<Remembered>;
      return {
        favourites: typesIn(favourites),
        recent: typesIn(recent),
        blocks: textsIn(blocks)
      };
    } catch {
      // Nothing was kept, another program's text, or storage is forbidden.
      return null;
    }
  }

  private _state: Remembered;
  private readonly _listeners = new Set<() => void>();
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
