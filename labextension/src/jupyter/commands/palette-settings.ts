// What a person keeps in the palette, in the person's settings: another browser has it too.

import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import { keptIn } from '../../editor';
import type { SavedItems, KeptElsewhere } from '../../editor';

/** What was not written yet as the page went. */
const UNSAVED = 'labdl:palette:unsaved';

export class PaletteSettings implements KeptElsewhere {
  constructor(private readonly _failed: (error: unknown) => void) {}

  readonly state = (): SavedItems | null => this._state;

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
        this._tell(savedItemsFrom(settings));
      }
    });
    this._tell(savedItemsFrom(settings));
    const unsaved = this._unsaved();
    if (unsaved) {
      this.change(() => unsaved);
    }
  }

  /** Shows the change at once, and writes it after those before it. */
  change(edit: (kept: SavedItems) => SavedItems): void {
    if (this._state && this._fresh) {
      const next = edit(this._state);
      this._tell(next);
      this._note(next);
      this._waiting++;
      this._last = this._last.then(() => this._write(edit));
    }
  }

  private async _write(edit: (kept: SavedItems) => SavedItems): Promise<void> {
    try {
      const settings = await this._fresh?.();
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
          this._tell(savedItemsFrom(settings));
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

  private _note(next: SavedItems | null): void {
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

  private _unsaved(): SavedItems | null {
    try {
      const text = window.localStorage.getItem(UNSAVED);
      return text ? keptIn(JSON.parse(text) as Partial<SavedItems>) : null;
    } catch {
      // Forbidden, or another program's text.
      return null;
    }
  }

  private _tell(next: SavedItems): void {
    if (differ(next, this._state)) {
      this._state = next;
      [...this._listeners].forEach(listener => listener());
    }
  }

  private _state: SavedItems | null = null;
  private _fresh: (() => Promise<ISettingRegistry.ISettings>) | undefined;
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
