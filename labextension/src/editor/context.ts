// What every part of the editor reads from its surroundings.
import { createContext, useContext } from 'react';

import { HUES } from '../api/drawing';
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
  /** One sample through the model, and what the layers made of it. */
  sample: SampleRun;
  /** How the layers do in the run that trains the model. */
  health: HealthWatch;
  people: People;
  /** The sections of the inspector that a person has closed. */
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

/** Colors by the order in which the categories come. */
export function huesOf(layers: LayerTable): Map<string, number> {
  const hues = new Map<string, number>();
  for (const { category } of layers.values()) {
    if (!hues.has(category)) {
      hues.set(category, HUES[hues.size % HUES.length]);
    }
  }
  return hues;
}
