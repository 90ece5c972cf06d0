import type { Runs } from '../../runs/compare/runs-source';
import { WidgetRunsSource } from '../runs-source';
import { TestModel } from './model';

const brief = (path: string, step = 1) => ({ path, step }) as never;

function connect() {
  const model = new TestModel();
  const source = new WidgetRunsSource(model.model);
  const heard: string[] = [];
  const troubles: (string | null)[] = [];
  source.subscribe({
    runs: ({ runs }: Runs) =>
      heard.push(runs.map(run => `${run.path}${run.step}`).join(' ')),
    trouble: message => troubles.push(message)
  });
  const tell = (message: object) =>
    model.emit('msg:custom', { type: 'runs', folder: 'all', ...message }, []);
  return { model, source, heard, troubles, tell };
}

const WHOLE = {
  since: '',
  token: 'a:1',
  whole: true,
  runs: [brief('one'), brief('two')]
};

test('the list is asked for once, and kept up to date', () => {
  const { model, heard, tell, source } = connect();
  expect(model.sent).toEqual([{ type: 'list', token: '' }]);
  tell(WHOLE);
  tell({
    since: 'a:1',
    token: 'a:2',
    runs: [brief('two', 2), brief('three')],
    gone: ['one']
  });
  expect(heard).toEqual(['one1 two1', 'two2 three1']);
  expect(source.folder).toBe('all');
  expect(model.sent.length).toBe(1);
});

test('what was missed is asked for, and only once', () => {
  const { model, heard, tell } = connect();
  tell(WHOLE);
  tell({ since: 'a:5', token: 'a:6', runs: [brief('nine')] });
  tell({ since: 'a:6', token: 'a:7', runs: [brief('ten')] });
  expect(model.sent.slice(1)).toEqual([{ type: 'list', token: '' }]);
  expect(heard.length).toBe(1);
  tell({ ...WHOLE, token: 'a:7' });
  expect(heard.length).toBe(2);
});

test('a folder that cannot be read is said, and that it can be again', () => {
  const { troubles, tell } = connect();
  tell({ since: '', token: '', trouble: 'no disk' });
  tell(WHOLE);
  expect(troubles).toEqual(['no disk', null]);
});

test('a run hears its own messages', () => {
  const { model, source } = connect();
  const heard: string[] = [];
  source
    .run('one')
    .subscribe(events => events.forEach(event => heard.push(event.kind)));
  expect(source.run('one')).toBe(source.run('one'));
  expect(model.sent.slice(1)).toEqual([
    { type: 'sync', run: -1, after: 0, path: 'one' }
  ]);
  const message = { type: 'events', run: 0, first: 0, alive: true };
  const events = [{ kind: 'start', time: 1 }];
  model.emit('msg:custom', { ...message, path: 'two', events }, []);
  model.emit('msg:custom', { ...message, path: 'one', events }, []);
  expect(heard).toEqual(['start']);
  void source.run('one').command('stop');
  expect(model.sent.slice(2)).toEqual([
    { type: 'command', command: 'stop', path: 'one' }
  ]);
});

test('what is written is answered to who wrote it', async () => {
  const { model, source } = connect();
  const first = source.write('one', { note: 'a' }, { note: '' });
  const second = source.write('one', { note: 'b' }, { note: '' });
  const third = source.write('one', { note: 'c' }, { note: '' });
  const ids = model.sent.slice(1).map(sent => (sent as { id: string }).id);
  const about = { name: '', tags: [], note: 'a' };
  const answer = (id: string, more: object) =>
    model.emit('msg:custom', { type: 'written', id, ...more }, []);
  answer(ids[1], { done: false, about });
  answer(ids[0], { done: true, about });
  answer(ids[2], { error: 'no disk' });
  expect(await first).toBe(null);
  expect(await second).toEqual(about);
  await expect(third).rejects.toThrow('no disk');
});
