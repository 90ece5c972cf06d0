// What a person keeps in the palette, in the person's settings: another browser has it too.

import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import { keptIn } from '../editor';
import type { Kept, KeptElsewhere } from '../editor';

/** What was not written yet as the page went. */
const UNSAVED = 'labdl:palette:unsaved';

export class PaletteSettings implements KeptElsewhere {
  constructor(private readonly _failed: (error: unknown) => void) {}

  readonly state = (): Kept | null => this._state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  /** Follows the settings of a plugin. */
  async follow(registry: ISettingRegistry, plugin: string): Promise<void> {
    const settings = await registry.load(plugin);
    this._fresh = async () => {
      // another page may have written meanwhile
      await registry.reload(plugin);
      return settings;
    };
    settings.changed.connect(() => {
      if (this._waiting === 0) {
        this._tell(keptFrom(settings));
      }
    });
    this._tell(keptFrom(settings));
    const unsaved = this._unsaved();
    if (unsaved) {
      this.change(() => unsaved);
    }
  }

  /** Shows the change at once, and writes it after those before it. */
  change(edit: (kept: Kept) => Kept): void {
    if (this._state && this._fresh) {
      const next = edit(this._state);
      this._tell(next);
      this._note(next);
      this._waiting++;
      this._last = this._last.then(() => this._write(edit));
    }
  }

  private async _write(edit: (kept: Kept) => Kept): Promise<void> {
    try {
      const settings = await this._fresh?.();
      if (settings) {
        const before = keptFrom(settings);
        const next = edit(before);
        if (differ(next.favourites, before.favourites)) {
          await settings.set('favourites', [...next.favourites]);
        }
        if (differ(next.blocks, before.blocks)) {
          await settings.set('keptBlocks', { ...next.blocks });
        }
        if (this._waiting === 1) {
          this._tell(keptFrom(settings));
          this._note(null);
        }
      }
    } catch (error) {
      // The disk is full, or the server gone: it is shown until the page goes.
      this._failed(error);
    } finally {
      this._waiting--;
    }
  }

  private _note(next: Kept | null): void {
    try {
      if (next) {
        window.localStorage.setItem(UNSAVED, JSON.stringify(next));
      } else {
        window.localStorage.removeItem(UNSAVED);
      }
    } catch {
      // Full, or forbidden: then a page that goes in this moment loses the change.
    }
  }

  private _unsaved(): Kept | null {
    try {
      const text = window.localStorage.getItem(UNSAVED);
      return text ? keptIn(JSON.parse(text) as Partial<Kept>) : null;
    } catch {
      // Forbidden, or another program's text.
      return null;
    }
  }

  private _tell(next: Kept): void {
    if (differ(next, this._state)) {
      this._state = next;
      [...this._listeners].forEach(listener => listener());
    }
  }

  private _state: Kept | null = null;
  private _fresh: (() => Promise<ISettingRegistry.ISettings>) | undefined;
  private _last: Promise<void> = Promise.resolve();
  private _waiting = 0;
  private readonly _listeners = new Set<() => void>();
}

function keptFrom({ composite }: ISettingRegistry.ISettings): Kept {
  const { favourites, keptBlocks: blocks } = composite;
  return keptIn({ favourites, blocks });
}

function differ(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) !== JSON.stringify(b);
}
