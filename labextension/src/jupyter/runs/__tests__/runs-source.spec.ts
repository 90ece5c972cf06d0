import type { RunsAnswer } from '../../../api/runs';
import { brief } from '../../../runs/compare/__tests__/briefs';
import type { Runs } from '../../../runs/compare/runs-source';
import type { LabDLApi } from '../../requests';
import { LabRunsSource } from '../runs-source';

/** Returns the answers in order and repeats the last one; an error is thrown. */
class Server {
  asked: string[] = [];
  written: unknown[] = [];
  removed: string[] = [];
  answers: (Partial<RunsAnswer> | Error)[] = [];

  async listRuns(_path: string, seen: string) {
    this.asked.push(seen);
    const answer =
      this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    if (answer instanceof Error) {
      throw answer;
    }
    return { folder: 'runs', token: 't', ...answer };
  }

  async writeAbout(...given: unknown[]) {
    this.written.push(given);
    return { done: true, about: { name: 'new', tags: [], note: '' } };
  }

  async removeRun(path: string) {
    this.removed.push(path);
  }
}

function open(answers: Server['answers'], folder = 'runs') {
  const server = new Server();
  server.answers = answers;
  const opened: [string, boolean][] = [];
  const source = new LabRunsSource(folder, server as unknown as LabDLApi, (path, isFolder) => opened.push([path, isFolder])); // prettier-ignore
  const seen: Runs[] = [];
  const troubles: (string | null)[] = [];
  const end = source.subscribe({
    runs: runs => seen.push(runs),
    trouble: trouble => troubles.push(trouble)
  });
  return { server, source, seen, troubles, opened, end };
}

const paths = (runs: Runs) => runs.runs.map(run => run.path);

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('what has changed is put into what is known', async () => {
  const { seen, server, source } = open([
    { token: 'a:1', whole: true, runs: [brief('one'), brief('two')] },
    { token: 'a:1', unchanged: true },
    { token: 'a:2', whole: false, runs: [brief('two', { step: 7 }), brief('new')], gone: ['one'] }, // prettier-ignore
    { token: 'b:1', whole: true, runs: [brief('other')] }
  ]);
  await jest.advanceTimersByTimeAsync(3500);
  source.dispose();
  expect(seen.map(paths)).toEqual([['one', 'two'], ['two', 'new'], ['other']]);
  expect(seen[1].runs[0].step).toBe(7);
  expect(server.asked.slice(0, 4)).toEqual(['', 'a:1', 'a:1', 'a:2']);
});

test('trouble is told, and over when there is an answer again', async () => {
  const { seen, troubles, source } = open([
    new Error('There is no folder.'),
    new Error('There is no folder.'),
    { whole: true, runs: [brief('one')] }
  ]);
  await jest.advanceTimersByTimeAsync(40_000);
  source.dispose();
  expect(troubles[0]).toBe('There is no folder.');
  expect(troubles[troubles.length - 1]).toBeNull();
  expect(seen.map(paths)[0]).toEqual(['one']);
});

test('nothing is asked while nobody looks', async () => {
  const { server, source, end } = open([{ whole: true, runs: [] }]);
  await jest.advanceTimersByTimeAsync(1500);
  source.setVisible(false);
  await jest.advanceTimersByTimeAsync(1);
  const asked = server.asked.length;
  await jest.advanceTimersByTimeAsync(20_000);
  expect(server.asked).toHaveLength(asked);
  source.setVisible(true);
  await jest.advanceTimersByTimeAsync(100);
  expect(server.asked.length).toBeGreaterThan(asked);
  end();
  await jest.advanceTimersByTimeAsync(1);
  const last = server.asked.length;
  await jest.advanceTimersByTimeAsync(20_000);
  expect(server.asked).toHaveLength(last);
  source.dispose();
});

test('paths are seen from the root, and the folder itself may be a run', async () => {
  const { server, source, opened, seen } = open([
    { whole: true, runs: [brief('a/b'), brief('.')] }
  ]);
  await jest.advanceTimersByTimeAsync(100);
  expect(await source.write('a/b', { name: 'new' }, { name: '' })).toBeNull();
  expect(server.written).toEqual([['runs/a/b', { name: 'new' }, { name: '' }]]);
  expect(seen[seen.length - 1].runs[0].name).toBe('new');
  await source.remove('a/b');
  expect(server.removed).toEqual(['runs/a/b']);
  expect(paths(seen[seen.length - 1])).toEqual(['.']);
  source.open('.');
  source.openFolder('a');
  expect(opened).toEqual([['runs', false], ['runs/a', true]]); // prettier-ignore
  source.dispose();
});
