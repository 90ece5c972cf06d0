// Runs as the server lists them, for tests.

import type {
  About,
  Brief,
  Runs,
  RunsListener,
  RunsSource
} from '../runs-source';
import type {
  RunCommand,
  RunEvent,
  RunListener,
  RunSource
} from '../../store/source';

export function brief(path: string, given: Partial<Brief> = {}): Brief {
  return {
    path,
    id: path,
    name: '',
    tags: [],
    note: '',
    status: 'finished',
    alive: false,
    time: 1_795_000_000,
    seconds: 12,
    step: 90,
    epoch: 2,
    epochs: 2,
    model: 'digits',
    backend: 'torch',
    loss: 'cross_entropy',
    optimizer: 'adam',
    parameters: 2410,
    settings: { learning_rate: 0.003, seed: 0 },
    params: {},
    figures: { loss: 0.4, accuracy: 0.9, val_loss: 0.5, val_accuracy: 0.85 },
    best: { val_loss: { value: 0.5, epoch: 2 } },
    higher: ['accuracy', 'val_accuracy'],
    spark: [2, 1, 0.4],
    parent: null,
    group: null,
    message: null,
    ...given
  };
}

/** A source that the test controls. */
export class Folder implements RunsSource {
  folder = 'runs';
  listeners = new Set<RunsListener>();
  runListeners = new Map<string, Set<RunListener>>();
  written: [string, Partial<About>, Partial<About>][] = [];
  commands: [string, RunCommand][] = [];
  removed: string[] = [];
  opened: string[] = [];
  /** Values that another page has written in the meantime. */
  other: About | null = null;
  now: Runs;

  constructor(runs: readonly Brief[], rest: Partial<Runs> = {}) {
    this.now = { folder: 'runs', runs, group: null, truncated: null, ...rest };
  }

  subscribe(listener: RunsListener) {
    this.listeners.add(listener);
    listener.runs(this.now);
    return () => this.listeners.delete(listener);
  }

  run(path: string): RunSource {
    return {
      subscribe: listener => {
        const there = this.runListeners.get(path) ?? new Set();
        this.runListeners.set(path, there.add(listener));
        return () => there.delete(listener);
      },
      command: async name => {
        this.commands.push([path, name]);
      }
    };
  }

  async write(path: string, words: Partial<About>, before: Partial<About>) {
    this.written.push([path, words, before]);
    return this.other;
  }

  async remove(path: string) {
    this.removed.push(path);
  }

  open(path: string) {
    this.opened.push(path);
  }

  tell(runs: readonly Brief[], rest: Partial<Runs> = {}) {
    this.now = { ...this.now, runs, ...rest };
    this.listeners.forEach(listener => listener.runs(this.now));
  }

  emit(path: string, events: RunEvent[]) {
    this.runListeners.get(path)?.forEach(listener => listener(events, true));
  }
}
