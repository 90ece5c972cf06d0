// Editors follow the run of their document, whichever panel has started it.

import { Signal } from '@lumino/signaling';

import type {
  RunEvent,
  RunListener,
  RunSource
} from '../../../runs/store/source';
import { TrainsDocument, TrainingRuns } from '../training-runs';

const START: RunEvent = { kind: 'start', time: 1 };

class Source implements RunSource {
  listeners = new Set<RunListener>();

  subscribe(listener: RunListener): () => void {
    listener([START], true);
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async command(): Promise<void> {
    return undefined;
  }
}

class Panel implements TrainsDocument {
  isDisposed = false;
  readonly stateChanged = new Signal<this, void>(this);

  constructor(
    public path: string,
    public source: Source | null = null
  ) {}

  begin(): Source {
    this.source = new Source();
    this.stateChanged.emit();
    return this.source;
  }

  dispose(): void {
    this.isDisposed = true;
    this.stateChanged.emit();
  }
}

test('the run of a document is heard, and the one that takes its place', () => {
  const runs = new TrainingRuns();
  const heard: string[] = [];
  const stop = runs.follow(
    () => 'a.labdl',
    events => heard.push(...events.map(event => event.kind))
  );
  const other = new Panel('b.labdl', new Source());
  runs.add(other);
  expect(heard).toEqual([]);

  const panel = new Panel('a.labdl');
  runs.add(panel);
  const first = panel.begin();
  panel.stateChanged.emit();
  expect(heard).toEqual(['start']);
  const second = panel.begin();
  expect(heard).toEqual(['start', 'start']);
  expect([first, second].map(source => source.listeners.size)).toEqual([0, 1]);

  // the last run stays after its panel is closed, and another may be opened
  panel.dispose();
  expect(runs.of('a.labdl')).toBeNull();
  const again = new Panel('a.labdl', new Source());
  runs.add(again);
  expect(heard).toEqual(['start', 'start', 'start']);

  stop();
  expect(again.source?.listeners.size).toBe(0);
  again.begin();
  expect(heard).toHaveLength(3);
});

test('an editor that opens later, or gets another name, finds the run', () => {
  const runs = new TrainingRuns();
  const panel = new Panel('a.labdl', new Source());
  runs.add(panel);
  let path = 'other.labdl';
  const heard: RunEvent[] = [];
  runs.follow(
    () => path,
    events => heard.push(...events)
  );
  expect(heard).toEqual([]);
  path = panel.path = 'moved.labdl';
  panel.stateChanged.emit();
  expect(heard).toEqual([START]);
});
