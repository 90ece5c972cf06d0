// Requests of the data view over a widget's messages.

import { plainTranslator } from '../../ui/translator';
import { WidgetDataHost } from '../data-host';
import { DataRequests } from '../data-requests';
import { TestModel } from './model';

interface Sent {
  type: string;
  id: string;
  name: string;
  start?: number;
}

const QUERY = { count: 48, label: null, size: 128 };
const alive = () => new AbortController().signal;

function host() {
  const model = new TestModel();
  const sent = () => model.sent as Sent[];
  const reply = (id: string, answer: object) =>
    model.emit('msg:custom', { type: 'reply', id, ...answer });
  const requests = new DataRequests(model.model, plainTranslator);
  return { model, host: new WidgetDataHost(requests), requests, sent, reply };
}

it('gives each answer to its question', async () => {
  const { host: data, sent, reply } = host();
  const summary = data.summary();
  const media = data.media({ index: 3, entry: 'audio' }, alive());
  expect(sent()[1]).toMatchObject({ name: 'media', index: 3, entry: 'audio' });
  reply('of another page', { result: 'wrong' });
  reply(sent()[1].id, { error: 'it is silent' });
  reply(sent()[0].id, { result: { name: 'pets' } });
  await expect(media).rejects.toThrow('it is silent');
  await expect(summary).resolves.toEqual({ name: 'pets' });
});

it('has two questions under way, and never sends what was given up', async () => {
  const { host: data, sent, reply } = host();
  const controller = new AbortController();
  const first = data.samples({ start: 0, ...QUERY }, alive());
  void data.samples({ start: 48, ...QUERY }, alive());
  const left = data.samples({ start: 96, ...QUERY }, controller.signal);
  void data.samples({ start: 144, ...QUERY }, alive());
  expect(sent().map(({ start }) => start)).toEqual([0, 48]);
  controller.abort();
  reply(sent()[0].id, { result: { samples: [], total: 0 } });
  await first;
  await expect(left).rejects.toThrow('Given up');
  expect(sent().map(({ start }) => start)).toEqual([0, 48, 144]);
});

it('rejects what is open when the kernel ends, and listens no more', async () => {
  const { model, host: data, requests } = host();
  const summary = data.summary();
  model.emit('comm_live_update');
  await expect(summary).rejects.toThrow('has ended');
  requests.dispose();
  expect(model.listening).toBe(0);
});

it('asks about a part', async () => {
  const { host: data, sent, reply } = host();
  const part = data.ofSplit('test').summary();
  void data.summary();
  expect(sent()).toMatchObject([
    { name: 'summary', split: 'test' },
    { name: 'summary', split: '' }
  ]);
  reply(sent()[0].id, { result: { name: 'pets/test' } });
  await expect(part).resolves.toEqual({ name: 'pets/test' });
});
