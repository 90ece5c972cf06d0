import type { RunEvent } from '../../runs/store/source';
import { WidgetRunSource } from '../run-source';
import { TestModel } from './model';

const EVENTS: RunEvent[] = [
  { kind: 'start', time: 0 },
  { kind: 'status', time: 1, status: 'paused' },
  { kind: 'status', time: 2, status: 'running' },
  { kind: 'end', time: 3, status: 'finished' }
];

function connect() {
  const model = new TestModel();
  const source = new WidgetRunSource(model.model);
  const heard: RunEvent[] = [];
  const lives: (boolean | null)[] = [];
  source.subscribe((events, alive) => {
    heard.push(...events);
    lives.push(alive);
  });
  const receive = (first: number, end: number, alive = true, run = 0) =>
    model.emit(
      'msg:custom',
      {
        type: 'events',
        run,
        first,
        events: EVENTS.slice(first, end),
        alive
      },
      []
    );
  return { model, source, heard, lives, receive };
}

describe('WidgetRunSource', () => {
  it('asks for the past and follows', () => {
    const { model, heard, receive } = connect();
    expect(model.sent).toEqual([{ type: 'sync', run: -1, after: 0 }]);
    receive(0, 2);
    receive(2, 3);
    expect(heard).toEqual(EVENTS.slice(0, 3));
  });

  it('takes nothing twice when another page has asked', () => {
    const { heard, receive } = connect();
    receive(0, 2);
    receive(0, 3);
    receive(1, 3);
    expect(heard).toEqual(EVENTS.slice(0, 3));
  });

  it('asks once for what it missed', () => {
    const { model, heard, receive } = connect();
    receive(0, 1);
    receive(2, 3);
    receive(3, 4);
    expect(model.sent.slice(1)).toEqual([{ type: 'sync', run: 0, after: 1 }]);
    receive(1, 4);
    expect(heard).toEqual(EVENTS);
  });

  it('asks again for a second view, and the first hears nothing twice', () => {
    const { model, source, heard, receive } = connect();
    receive(0, 3);
    const second: RunEvent[] = [];
    source.subscribe(events => second.push(...events));
    expect(model.sent.slice(1)).toEqual([{ type: 'sync', run: -1, after: 0 }]);
    receive(3, 4);
    expect(second).toEqual([]);
    receive(0, 4);
    expect(second).toEqual(EVENTS);
    expect(heard).toEqual(EVENTS);
  });

  it('begins anew with a later run, and hears no more of the one before', () => {
    const { heard, receive } = connect();
    receive(0, 3, true, 1);
    receive(0, 1, true, 2);
    receive(3, 4, true, 1);
    expect(heard.map(event => event.kind)).toEqual([
      'start',
      'status',
      'status',
      'reset',
      'start'
    ]);
  });

  it('gets the files of the code', async () => {
    const { model, source } = connect();
    const code = source.code();
    model.emit('msg:custom', { type: 'code', files: { 'a.py': 'x' } }, []);
    expect(await code).toEqual({ 'a.py': 'x' });
  });

  it('takes the run for gone until the kernel answers', () => {
    const { model, lives, receive } = connect();
    receive(0, 2);
    model.emit('comm_live_update');
    expect(lives.pop()).toBe(false);
    expect(model.sent[1]).toEqual({ type: 'sync', run: 0, after: 2 });
    receive(2, 2);
    expect(lives.pop()).toBe(true);
  });

  it('stays calm when the connection is closed for good', () => {
    const { model, lives } = connect();
    model.send = () => {
      throw new Error('Cannot send');
    };
    model.emit('comm_live_update');
    expect(lives).toEqual([false]);
  });

  it('sends commands and lets go of its model', async () => {
    const { model, source } = connect();
    await source.command('stop');
    await source.command('learning_rate', 0.1);
    expect(model.sent.slice(1)).toEqual([
      { type: 'command', command: 'stop' },
      { type: 'command', command: 'learning_rate', value: 0.1 }
    ]);
    source.dispose();
    expect(model.listening).toBe(0);
  });
});
