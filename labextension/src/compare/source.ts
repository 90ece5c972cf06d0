// The runs of a folder and where they come from: a host (JupyterLab, a widget) implements RunsSource. docs/runs.md has their meaning.

import type { RunCode, RunSource } from '../dashboard/source';

/** "lost" is a run without an end on which nobody works. */
export type BriefStatus =
  | 'waiting'
  | 'running'
  | 'paused'
  | 'stopping'
  | 'finished'
  | 'stopped'
  | 'failed'
  | 'lost'
  | 'unreadable';

/** What stands in a list about one run. */
export interface Brief {
  /** Relative to the folder of the list. */
  path: string;
  id: string;
  /** Given by people; empty or null where they gave none. */
  name: string | null;
  tags: readonly string[];
  note: string | null;
  status: BriefStatus;
  alive: boolean;
  /** Unix seconds of the beginning. */
  time: number | null;
  /** Trained, without pauses. */
  seconds: number | null;
  step: number | null;
  epoch: number | null;
  epochs: number | null;
  model: string | null;
  backend: string | null;
  loss: string | null;
  optimizer: string | null;
  parameters: number | null;
  settings: { readonly [name: string]: unknown };
  /** What a sweep tries in this run. */
  params: { readonly [name: string]: unknown };
  /** The last of each name; null is not finite. */
  figures: { readonly [name: string]: number | null };
  best: {
    readonly [name: string]: { value: number | null; epoch: number | null };
  };
  /** Names of figures that are better high. */
  higher: readonly string[];
  spark: readonly (number | null)[];
  parent: { id: string; folder: string | null; step: number | null } | null;
  group: string | null;
  message: string | null;
}

/** What the runs of a folder have to do with each other (group.json). */
export interface Group {
  kind: 'race' | 'sweep';
  name: string | null;
  time?: number | null;
  method?: string | null;
  /** How many runs a sweep is to have, where that is known. */
  trials?: number | null;
  /** The figure by which trials are judged, and whether it should be low ("min") or high ("max"). */
  metric?: string | null;
  mode?: 'min' | 'max' | null;
  /** How a sweep has come to its end. */
  status?: 'finished' | 'stopped' | 'failed' | null;
}

export interface Runs {
  readonly folder: string;
  readonly runs: readonly Brief[];
  readonly group: Group | null;
  /** What is left out of the list; null where it is whole. */
  readonly truncated: string | null;
}

/** What people write about a run. */
export interface About {
  name: string;
  tags: readonly string[];
  note: string;
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
