// What a training is made of and what is kept of it, so that a refreshed page shows the same again.

import type { Contents, ServiceManager } from '@jupyterlab/services';

import type { GraphDocument, Translator } from '../../editor';
import type { LabDLApi } from '../requests';
import type { TrainingKernelsOptions } from './training-kernels';
import type { TrainingSettings } from './training-settings';

export type Phase = 'idle' | 'saving' | 'starting' | 'executing';

/** What a refreshed page needs to show the same panel again. */
export interface TrainingState {
  path: string;
  run: string | null;
  code: string | null;
  settings: TrainingSettings | null;
  /** What the form shows, if that is not what the run was trained with. */
  draft?: TrainingSettings | null;
  /** The kernels that were chosen, by backend. */
  kernels: { [backend: string]: string };
}

export interface TrainingOptions {
  state: TrainingState;
  api: LabDLApi;
  services: ServiceManager.IManager;
  dialogs?: TrainingKernelsOptions['dialogs'];
  /** Saves the document if somebody has it open. */
  save: (path: string) => Promise<void>;
  /** The graph of the document if somebody has it open. */
  graphOf: (path: string) => GraphDocument | undefined;
  trans: Translator;
}

/** Where a path leads after a file or a folder was renamed. */
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
