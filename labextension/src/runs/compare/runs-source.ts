// The runs of a folder and where they come from: a host (JupyterLab, a widget) implements RunsSource. docs/runs.md has their meaning.

import type { About, Brief, Group } from '../../api/runs';
import type { RunCode, RunSource } from '../store/source';

export type { About, Brief, Group };
export type BriefStatus = Brief['status'];

export interface Runs {
  readonly folder: string;
  readonly runs: readonly Brief[];
  readonly group: Group | null;
  /** What is left out of the list; null where it is whole. */
  readonly truncated: string | null;
}

export interface RunsListener {
  runs(runs: Runs): void;
  /** Why there is no answer; null when there is one again. */
  trouble(message: string | null): void;
}

export interface RunsSource {
  readonly folder: string;
  subscribe(listener: RunsListener): () => void;
  /** The events of one of them, and commands to it, "." is the folder itself; asked again, it is the same object. */
  run(path: string): RunSource;
  /** Resolves to null, or to what another has written since `before`: then nothing was changed. */
  write?(
    path: string,
    words: Partial<About>,
    before: Partial<About>
  ): Promise<About | null>;
  remove?(path: string): Promise<void>;
  /** Shows the dashboard of a run. */
  open?(path: string): void;
  /** Shows the runs of a folder below this one. */
  openFolder?(path: string): void;
  code?(path: string): Promise<RunCode>;
}

/** What a run is called in lists. */
export function title(run: Brief): string {
  return run.name || run.id || run.path;
}
