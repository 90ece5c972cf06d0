// Watching a run: it is waited for, replayed to who comes late, and let go when it has ended.

import type { RunEvent } from '../../dashboard/source';
import type { LabDLApi, RunAnswer } from '../api';
import { LabRunSource } from '../run-source';

const START: RunEvent = { kind: 'start', time: 1 };
const STEPS: RunEvent = { kind: 'steps', time: 2, step: [1], loss: [0.5] };
const END: RunEvent = { kind: 'end', time: 3, status: 'finished' };

/** A server that gives these answers one after the other, and the last one for ever. */
function serverWith(...answers: RunAnswer[]) {
  const asked: number[] = [];
  const commands: [string, number | undefined][] = [];
  const api = {
    run: async (_path: string, offset: number) => {
      asked.push(offset);
      return answers.length > 1 ? (answers.shift() as RunAnswer) : answers[0];
    },
    control: async (_path: string, command: string, value?: number) => {
      commands.push([command, value]);
    }
  } as unknown as LabDLApi;
  return { api, asked, commands };
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 100 && !condition(); i++) {
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  expect(condition()).toBe(true);
}

test('a run is waited for, read on from where it was, and ends', async () => {
  const { api, asked } = serverWith(
    { offset: 0, events: [], alive: null },
    { offset: 10, events: [START], alive: true },
    { offset: 20, events: [STEPS], alive: true },
    { offset: 30, events: [END], alive: false }
  );
  const source = new LabRunSource('runs/1', api);
  const heard: [string, boolean][] = [];
  source.subscribe((events, alive) =>
    events.forEach(event => heard.push([event.kind, alive]))
  );
  await until(() => source.live === false);
  expect(heard).toEqual([
    ['start', true],
    ['steps', true],
    ['end', false]
  ]);
  expect(asked).toEqual([0, 0, 10, 20]);

  const late: string[] = [];
  source.subscribe(events => events.forEach(event => late.push(event.kind)));
  expect(late).toEqual(['start', 'steps', 'end']);
  expect(asked.length).toBe(4);
  source.dispose();
});

test('a run whose process died is no longer live, though nothing was written', async () => {
  const { api } = serverWith(
    { offset: 10, events: [START], alive: true },
    { offset: 10, events: [], alive: false }
  );
  const source = new LabRunSource('runs/1', api);
  const alive: boolean[] = [];
  source.subscribe((_events, live) => alive.push(live));
  await until(() => source.live === false);
  expect(alive).toEqual([true, false]);
  source.dispose();
});

test('commands go to the run', async () => {
  const { api, commands } = serverWith({ offset: 0, events: [], alive: true });
  const source = new LabRunSource('runs/1', api);
  await source.command('pause');
  await source.command('add_epochs', 2);
  expect(commands).toEqual([
    ['pause', undefined],
    ['add_epochs', 2]
  ]);
  source.dispose();
});
