// Run source: listeners receive all events from the start, commands are sent to the server.

import type { RunEvent } from '../../../runs/store/source';
import type { LabDLApi } from '../../requests';
import type { EventListener } from '../event-polling';
import { LabRunSource } from '../run-source';

const START: RunEvent = { kind: 'start', time: 1 };

function page() {
  const followed = new Map<EventListener, string>();
  const commands: unknown[][] = [];
  const api = {
    runs: {
      follow: (path: string, hear: EventListener) => {
        followed.set(hear, path);
        return () => followed.delete(hear);
      }
    },
    control: async (...command: unknown[]) => {
      commands.push(command);
    }
  } as unknown as LabDLApi;
  const tell = (events: RunEvent[], alive: boolean | null) =>
    [...followed.keys()].forEach(hear => hear(events, alive));
  return { api, tell, commands, followed };
}

test('a run is waited for, lives, and is over', () => {
  const { api, tell } = page();
  const source = new LabRunSource('runs/1', api);
  const heard: [string[], boolean | null][] = [];
  const changes: (boolean | null)[] = [];
  source.liveChanged.connect(() => changes.push(source.live));
  source.subscribe((events, alive) =>
    heard.push([events.map(event => event.kind), alive])
  );
  tell([], null);
  expect(source.live).toBe(null);
  tell([START], true);
  tell([], false);
  expect(heard).toEqual([
    [['start'], true],
    [[], false]
  ]);
  expect(changes).toEqual([true, false]);
  tell([], null);
  expect(heard[2]).toEqual([[], null]); // its folder was deleted
});

test('nobody follows a run that nobody listens to', () => {
  const { api, followed } = page();
  const source = new LabRunSource('runs/1', api);
  const end = source.subscribe(() => undefined);
  source.subscribe(() => undefined);
  expect([...followed.values()]).toEqual(['runs/1', 'runs/1']);
  end();
  expect(followed.size).toBe(1);
  source.dispose();
  expect(followed.size).toBe(0);
});

test('commands go to the run', async () => {
  const { api, commands } = page();
  const source = new LabRunSource('runs/1', api);
  await source.command('pause');
  await source.command('add_epochs', 2, 'a1');
  expect(commands).toEqual([
    ['runs/1', 'pause', undefined, undefined],
    ['runs/1', 'add_epochs', 2, 'a1']
  ]);
});
