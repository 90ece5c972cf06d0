// State and options of a training; a reloaded page restores the state.

import type { Contents, ServiceManager } from '@jupyterlab/services';

import type { GraphDocument, Translator } from '../../editor';
import type { LabDLApi } from '../requests';
import type { TrainingKernelsOptions } from './training-kernels';
import type { TrainingSettings } from './training-settings';

export type Phase = 'idle' | 'saving' | 'starting' | 'executing';

/** A data file that was chosen outside of the form. */
export interface ChosenFile {
  readonly dataset: string;
}

/** State from which a reloaded page restores the panel. */
export interface TrainingState {
  path: string;
  run: string | null;
  code: string | null;
  settings: TrainingSettings | null;
  /** Settings in the form, if they differ from those of the run. */
  draft?: TrainingSettings | null;
  /** Chosen kernels by backend. */
  kernels: { [backend: string]: string };
}

export interface TrainingOptions {
  state: TrainingState;
  api: LabDLApi;
  services: ServiceManager.IManager;
  dialogs?: TrainingKernelsOptions['dialogs'];
  /** Saves the document if it is open. */
  save: (path: string) => Promise<void>;
  /** Graph of the document if it is open. */
  graphOf: (path: string) => GraphDocument | undefined;
  trans: Translator;
}

/** Path after a file or a folder was renamed. */
export function movedPath(path: string, change: Contents.IChangedArgs): string {
  const from = change.oldValue?.path;
  const to = change.newValue?.path;
  if (change.type !== 'rename' || !from || !to) {
    return path;
  }
  if (path === from) {
    return to;
  }
  return path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;
}
