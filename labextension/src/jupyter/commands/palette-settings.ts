// Favorites and saved blocks of the palette in the person's settings, which are shared by all browsers.

import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import { keptIn } from '../../editor';
import type { SavedItems, HostStorage } from '../../editor';

/** Key for changes that were not saved before the page was closed. */
const UNSAVED = 'labdl:palette:unsaved';

export class PaletteSettings implements HostStorage {
  constructor(private readonly _onError: (error: unknown) => void) {}

  readonly state = (): SavedItems | null => this._state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  /** Follows the settings of a plugin. */
  async follow(registry: ISettingRegistry, plugin: string): Promise<void> {
    const settings = await registry.load(plugin);
    this._reload = async () => {
      // another page may have saved in the meantime
      await registry.reload(plugin);
      return settings;
    };
    settings.changed.connect(() => {
      if (this._waiting === 0) {
        this._setState(savedItemsFrom(settings));
      }
    });
    this._setState(savedItemsFrom(settings));
    const unsaved = this._loadUnsaved();
    if (unsaved) {
      this.change(() => unsaved);
    }
  }

  /** Applies the change at once and saves it after the previous ones. */
  change(edit: (kept: SavedItems) => SavedItems): void {
    if (this._state && this._reload) {
      const next = edit(this._state);
      this._setState(next);
      this._storeUnsaved(next);
      this._waiting++;
      this._last = this._last.then(() => this._write(edit));
    }
  }

  private async _write(edit: (kept: SavedItems) => SavedItems): Promise<void> {
    try {
      const settings = await this._reload?.();
      if (settings) {
        const before = savedItemsFrom(settings);
        const next = edit(before);
        if (differ(next.favorites, before.favorites)) {
          await settings.set('favorites', [...next.favorites]);
        }
        if (differ(next.blocks, before.blocks)) {
          await settings.set('keptBlocks', { ...next.blocks });
        }
        if (this._waiting === 1) {
          this._setState(savedItemsFrom(settings));
          this._storeUnsaved(null);
        }
      }
    } catch (error) {
      // The disk is full or the server is unreachable: the change lasts until the page is closed.
      this._onError(error);
    } finally {
      this._waiting--;
    }
  }

  private _storeUnsaved(next: SavedItems | null): void {
    try {
      if (next) {
        window.localStorage.setItem(UNSAVED, JSON.stringify(next));
      } else {
        window.localStorage.removeItem(UNSAVED);
      }
    } catch {
      // Storage is full or not allowed: a page that is closed now loses the change.
    }
  }

  private _loadUnsaved(): SavedItems | null {
    try {
      const text = window.localStorage.getItem(UNSAVED);
      return text ? keptIn(JSON.parse(text) as Partial<SavedItems>) : null;
    } catch {
      // Storage is not allowed, or contains something else.
      return null;
    }
  }

  private _setState(next: SavedItems): void {
    if (differ(next, this._state)) {
      this._state = next;
      [...this._listeners].forEach(listener => listener());
    }
  }

  private _state: SavedItems | null = null;
  private _reload: (() => Promise<ISettingRegistry.ISettings>) | undefined;
  private _last: Promise<void> = Promise.resolve();
  private _waiting = 0;
  private readonly _listeners = new Set<() => void>();
}

function savedItemsFrom({ composite }: ISettingRegistry.ISettings): SavedItems {
  const { favorites, keptBlocks: blocks } = composite;
  return keptIn({ favorites, blocks });
}

function differ(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) !== JSON.stringify(b);
}
