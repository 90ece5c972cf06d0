// Values of JupyterLab's settings, for the open documents.

import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import { PREFERENCES } from '../editor';
import type { EditorPreferences } from '../editor';

export interface Preferences extends EditorPreferences {
  /** Whether unsaved changes are stored in the browser. */
  recovery: boolean;
}

const DEFAULTS: Preferences = { ...PREFERENCES, recovery: true };

export class PreferenceStore {
  readonly state = (): Preferences => this._state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  /** Follows the settings of a plugin. */
  async follow(registry: ISettingRegistry, plugin: string): Promise<void> {
    const settings = await registry.load(plugin);
    const read = () => {
      // The registry has checked the values against the schema.
      const given = settings.composite as Partial<Preferences>;
      this._state = {
        direction: given.direction ?? DEFAULTS.direction,
        figure: given.figure ?? DEFAULTS.figure,
        snapToGrid: given.snapToGrid ?? DEFAULTS.snapToGrid,
        overview: given.overview ?? DEFAULTS.overview,
        recovery: given.recovery ?? DEFAULTS.recovery
      };
      [...this._listeners].forEach(listener => listener());
    };
    settings.changed.connect(read);
    read();
  }

  private _state = DEFAULTS;
  private readonly _listeners = new Set<() => void>();
}
