// React context that the components of the editor share.
import { createContext, useContext } from 'react';

import { HUES } from '../api/drawing';
import { HostShortcuts } from './commands/key-bindings';
import { CheckStore } from './model/check-store';
import { HealthWatch } from './health/health-watch';
import { EditorHost } from './host';
import { LayerTable } from './model/graph-data';
import { People } from './model/collaborators';
import { SampleRun } from './samples/sample-run';
import { Translator } from '../ui/translator';

export interface EditorContext {
  trans: Translator;
  checks: CheckStore;
  host: EditorHost;
  /** Runs one sample through the model and keeps its activations. */
  sample: SampleRun;
  /** Health of the layers in the run that trains the model. */
  health: HealthWatch;
  people: People;
  shortcuts: HostShortcuts;
  /** Names of the collapsed sections of the inspector. */
  closed: Set<string>;
  /** Hue of a category's color, 0 to 359. */
  hueOf(category: string | undefined): number | undefined;
}

const Context = createContext<EditorContext | null>(null);

export const EditorContextProvider = Context.Provider;

export function useEditorContext(): EditorContext {
  const context = useContext(Context);
  if (!context) {
    throw new Error('A part of the editor was used outside <Editor>.');
  }
  return context;
}

/** Hues of the categories in their order of appearance. */
export function huesOf(layers: LayerTable): Map<string, number> {
  const hues = new Map<string, number>();
  for (const { category } of layers.values()) {
    if (!hues.has(category)) {
      hues.set(category, HUES[hues.size % HUES.length]);
    }
  }
  return hues;
}
