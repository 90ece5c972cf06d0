// One request for all runs of a page: no event twice or lost, even if the server fails.

import type { FollowRequest } from '../../../api/runs';
import { TextDecoder, TextEncoder } from 'util';

import { EventPolling, unpackFollowed } from '../event-polling';

// missing in jsdom
Object.assign(globalThis, { TextDecoder, TextEncoder });

interface Told {
  offset: number;
  alive: boolean | null;
  reset?: boolean;
  best?: object;
  events?: object[];
  columns?: number[];
}

/** An answer in the format of the server. */
function answer(...runs: Told[]): ArrayBuffer {
  const header = new TextEncoder().encode(
    JSON.stringify({
      runs: runs.map(({ columns = [], ...run }) => ({
        path: 'any',
        reset: false,
        events: [],
        ...run,
        bytes: columns.length * 4
      }))
    })
  );
  const begin = Math.ceil((4 + header.length) / 4) * 4;
  const columns = Float32Array.from(runs.flatMap(run => run.columns ?? []));
  const packed = new Uint8Array(begin + columns.byteLength);
  new DataView(packed.buffer).setUint32(0, header.length, true);
  packed.set(header, 4);
  packed.set(new Uint8Array(columns.buffer), begin);
  return packed.buffer;
}

class Server {
  readonly asked: FollowRequest[] = [];
  private _answers: ((data: ArrayBuffer | Error) => void)[] = [];

  ask = (question: FollowRequest, signal: AbortSignal) => {
    this.asked.push(question);
    return new Promise<ArrayBuffer>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      this._answers.push(data =>
        data instanceof Error ? reject(data) : resolve(data)
      );
    });
  };

  /** Answers the last request. */
  async answer(data: ArrayBuffer | Error): Promise<void> {
    this._answers[this._answers.length - 1](data);
    await settled();
  }

  get last(): FollowRequest {
    return this.asked[this.asked.length - 1];
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 10; i++) {
    await Promise.resolve();
  }
}

const START = { kind: 'start', time: 1 };

function feedOf(server: Server) {
  const feed = new EventPolling(server.ask);
  const heard: [string, string[], boolean | null][] = [];
  const follow = (path: string) =>
    feed.follow(path, (events, alive) =>
      heard.push([path, events.map(event => event.kind), alive])
    );
  return { feed, heard, follow };
}

test('runs are asked for together, from where each is', async () => {
  const server = new Server();
  const { feed, heard, follow } = feedOf(server);
  follow('a');
  follow('b');
  await settled();
  expect(server.last).toEqual({
    runs: [
      { path: 'a', offset: 0, alive: null, kinds: undefined },
      { path: 'b', offset: 0, alive: null, kinds: undefined }
    ],
    wait: 0
  });
  await server.answer(
    answer(
      { offset: 30, alive: true, events: [START] },
      { offset: 0, alive: null }
    )
  );
  expect(heard).toEqual([
    ['a', ['start'], true],
    ['b', [], null]
  ]);
  expect(server.last.wait).toBeGreaterThan(1);
  expect(server.last.runs.map(run => [run.offset, run.alive])).toEqual([
    [30, true],
    [0, null]
  ]);
  // no event within the time that the server waits
  await server.answer(
    answer({ offset: 30, alive: true }, { offset: 0, alive: null })
  );
  expect(heard.length).toBe(2);
  // the process has ended
  await server.answer(
    answer({ offset: 30, alive: false }, { offset: 0, alive: null })
  );
  expect(heard[2]).toEqual(['a', [], false]);
  feed.dispose();
});

test('who comes later hears all, and the others nothing twice', async () => {
  const server = new Server();
  const { feed, heard, follow } = feedOf(server);
  follow('a');
  await settled();
  await server.answer(answer({ offset: 30, alive: true, events: [START] }));
  const asked = server.asked.length;
  follow('a');
  await settled();
  expect(server.asked.length).toBe(asked + 1);
  expect(server.last.runs.map(run => run.offset)).toEqual([30, 0]);
  expect(server.last.wait).toBe(0);
  await server.answer(
    answer(
      { offset: 30, alive: true },
      { offset: 30, alive: true, events: [START] }
    )
  );
  expect(heard).toEqual([
    ['a', ['start'], true],
    ['a', ['start'], true]
  ]);
  feed.dispose();
});

test('while the server is away it is asked again, and nothing is lost', async () => {
  jest.useFakeTimers();
  const server = new Server();
  const { feed, heard, follow } = feedOf(server);
  follow('a');
  await settled();
  await server.answer(answer({ offset: 30, alive: true, events: [START] }));
  for (let i = 0; i < 5; i++) {
    await server.answer(new Error('the server is away'));
    await jest.advanceTimersByTimeAsync(10_000);
  }
  expect(server.last.runs[0].offset).toBe(30);
  await server.answer(
    answer({ offset: 50, alive: true, events: [{ kind: 'epochs', time: 2 }] })
  );
  expect(heard.map(([, kinds]) => kinds)).toEqual([['start'], ['epochs']]);
  feed.dispose();
  jest.useRealTimers();
});

test('the best values follow the events', async () => {
  const server = new Server();
  const { feed, heard, follow } = feedOf(server);
  follow('a');
  await settled();
  const best = { loss: { value: 0.5, epoch: 1 } };
  await server.answer(
    answer({ offset: 30, alive: true, best, events: [START] })
  );
  expect(heard[0]).toEqual(['a', ['start', 'best'], true]);
  feed.dispose();
});

test('a file that begins anew is told as that', async () => {
  const server = new Server();
  const { feed, heard, follow } = feedOf(server);
  follow('a');
  await settled();
  await server.answer(answer({ offset: 30, alive: true, events: [START] }));
  await server.answer(
    answer({ offset: 20, alive: true, reset: true, events: [START] })
  );
  expect(heard[1]).toEqual(['a', ['reset', 'start'], true]);
  feed.dispose();
});

test('a file that is gone leaves its events, until another run writes there', async () => {
  const server = new Server();
  const { feed, heard, follow } = feedOf(server);
  follow('a');
  await settled();
  await server.answer(answer({ offset: 30, alive: true, events: [START] }));
  await server.answer(answer({ offset: 0, alive: null, reset: true }));
  expect(heard[1]).toEqual(['a', [], null]);
  await server.answer(answer({ offset: 20, alive: true, events: [START] }));
  expect(heard[2]).toEqual(['a', ['reset', 'start'], true]);
  feed.dispose();
});

test('where more waits the server is asked at once', async () => {
  const server = new Server();
  const { feed, follow } = feedOf(server);
  follow('a');
  await settled();
  await server.answer(answer({ offset: 4_000_000, alive: true }));
  expect(server.last.wait).toBe(0);
  await server.answer(answer({ offset: 4_000_100, alive: true }));
  expect(server.last.wait).toBeGreaterThan(1);
  feed.dispose();
});

test('columns come in the order of their runs', () => {
  const steps = (length: number) => ({
    kind: 'steps',
    time: 1,
    length,
    base: 7,
    columns: ['loss']
  });
  const [first, second] = unpackFollowed(
    answer(
      { offset: 1, alive: true, events: [steps(2)], columns: [0, 1, 5, 6] },
      { offset: 1, alive: true, events: [steps(1)], columns: [0, 9] }
    )
  ).map(run => run.events as unknown as { step: number[]; loss: number[] }[]);
  expect([...first[0].step]).toEqual([7, 8]);
  expect([...first[0].loss]).toEqual([5, 6]);
  expect([...second[0].loss]).toEqual([9]);
});

test('a page that nobody sees asks nothing', async () => {
  const server = new Server();
  const { feed, follow } = feedOf(server);
  const hidden = jest.spyOn(document, 'hidden', 'get').mockReturnValue(true);
  follow('a');
  await settled();
  expect(server.asked.length).toBe(0);
  hidden.mockReturnValue(false);
  document.dispatchEvent(new Event('visibilitychange'));
  await settled();
  expect(server.asked.length).toBe(1);
  feed.dispose();
});
