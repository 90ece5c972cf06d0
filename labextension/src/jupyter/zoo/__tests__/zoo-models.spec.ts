// Search in the zoo, and names of new files.

import { byTask, freeName, matching, ZooModel } from '../zoo-models';

const model = (name: string, task: string, summary = ''): ZooModel => ({
  name,
  task,
  summary,
  paper: 'https://example.org',
  parameters: 1,
  schema: {}
});
const MODELS = [
  model('bert_base', 'text encoding', 'BERT (Devlin et al., 2019)'),
  model('wide_resnet50_2', 'image classification', 'Wide ResNet'),
  model('resnet50', 'image classification', 'ResNet-50 (He et al., 2016)'),
  model('t5', 'translation')
];
const names = (query: string) =>
  matching(MODELS, query).map(({ name }) => name);

it('shows all models where nothing was typed', () => {
  expect(names('')).toEqual(MODELS.map(({ name }) => name));
  expect(names('  ')).toHaveLength(MODELS.length);
});

it('finds all words wherever they stand, names that begin so first', () => {
  expect(names('resnet')).toEqual(['resnet50', 'wide_resnet50_2']);
  expect(names('RESNET he')).toEqual(['resnet50']);
  expect(names('image wide')).toEqual(['wide_resnet50_2']);
  expect(names('nothing')).toEqual([]);
});

it('keeps what is for one task together', () => {
  // the name "t5" starts with it, so its task comes first
  expect(names('t')).toEqual([
    't5',
    'bert_base',
    'wide_resnet50_2',
    'resnet50'
  ]);
  expect(byTask(MODELS).map(([task, inside]) => [task, inside.length])).toEqual(
    [
      ['text encoding', 1],
      ['image classification', 2],
      ['translation', 1]
    ]
  );
});

it('takes a name that no file has', () => {
  expect(freeName('t5', new Set())).toBe('t5.labdl');
  const taken = new Set(['t5.labdl', 't5-1.labdl', 't5-3.labdl']);
  expect(freeName('t5', taken)).toBe('t5-2.labdl');
});
