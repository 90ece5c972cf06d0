// Interface to the runs of a folder, which JupyterLab and the widget implement. docs/runs.md has the data.

import type { About, Brief, Group } from '../../api/runs';
import type { RunCode, RunSource } from '../store/source';

export type { About, Brief, Group };
export type BriefStatus = Brief['status'];

export interface Runs {
  readonly folder: string;
  readonly runs: readonly Brief[];
  readonly group: Group | null;
  /** Reason why the list is incomplete; null where it is complete. */
  readonly truncated: string | null;
}

export interface RunsListener {
  runs(runs: Runs): void;
  /** Called with an error message, and with null after the next success. */
  trouble(message: string | null): void;
}

export interface RunsSource {
  readonly folder: string;
  subscribe(listener: RunsListener): () => void;
  /** Events of one run and commands to it; "." is the folder itself. Returns the same object for the same path. */
  run(path: string): RunSource;
  /** Resolves to null, or to the values that another page has written since `before`; then nothing was changed. */
  write?(
    path: string,
    words: Partial<About>,
    before: Partial<About>
  ): Promise<About | null>;
  remove?(path: string): Promise<void>;
  /** Opens the dashboard of a run. */
  open?(path: string): void;
  /** Opens the runs of a subfolder. */
  openFolder?(path: string): void;
  code?(path: string): Promise<RunCode>;
}

/** Name of a run in lists. */
export function title(run: Brief): string {
  if (run.name || run.group) {
    return run.name || run.id || run.path;
  }
  return run.path.replace(/^runs\//, '') || run.id || run.path; // with its sub-folder
}
