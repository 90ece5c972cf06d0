// Compares the rule of names with that of Python (scripts/generate_names.py).
import { readFileSync } from 'fs';
import path from 'path';

import { plainTranslator } from '../../../ui/translator';
import { NameRefusal, refuseName } from '../../inspector/name-refusal';
import { resolveConflicts } from '../conflict-resolution';
import {
  faultOfWord,
  isPath,
  uniquePath,
  validPath,
  validWord
} from '../naming';

interface Samples {
  words: { word: string; fault: string | null; valid: string }[];
  paths: { path: string; isValid: boolean; valid: string }[];
}

const FILE = '../../../../../tests/core/graph/files/names.json';
const SAMPLES = JSON.parse(
  readFileSync(path.join(__dirname, FILE), 'utf8')
) as Samples;

describe('the rule of names', () => {
  it.each(SAMPLES.words)('says of $word what Python says', sample => {
    expect(faultOfWord(sample.word)).toBe(sample.fault);
    expect(validWord(sample.word)).toBe(sample.valid);
    expect(faultOfWord(sample.valid)).toBeNull();
  });

  it.each(SAMPLES.paths)('takes the paths that Python takes', sample => {
    expect(isPath(sample.path)).toBe(sample.isValid);
    expect(validPath(sample.path)).toBe(sample.valid);
    expect(isPath(sample.valid)).toBe(true);
  });
});

describe('a refused name', () => {
  const names = new Set(['conv', 'a/conv', 'class_']);
  const refuse = (word: string, home = ''): NameRefusal | null =>
    refuseName(
      word,
      { home, isIndex: home !== '', isTaken: name => names.has(name) },
      plainTranslator
    );

  it.each([
    ['class', 'class__1', 'keyword'],
    ['my layer', 'my_layer', 'letters'],
    ['1conv', 'layer_1conv', 'start'],
    ['conv', 'conv_1', 'already'],
    ['train', 'train_', 'Every model'],
    ['', null, 'missing']
  ])('%s has its reason and a valid name', (word, valid, reason) => {
    const refusal = refuse(word);
    expect(refusal?.valid).toBe(valid);
    expect(refusal?.reason).toContain(reason);
    expect(valid && refuse(valid)).toBeNull();
  });

  it('is one that is taken in its own block', () => {
    expect(refuse('conv', 'a')?.valid).toBe('conv_1');
    expect(refuse('conv', 'b')).toBeNull();
    expect(refuse('train', 'b')).toBeNull();
    expect(refuse('0', 'b')).toBeNull();
    expect(refuse('0')?.valid).toBe('layer_0');
  });

  it.each(['卷积层', 'é', 'мой_слой'])('is not %s', word => {
    expect(refuse(word)).toBeNull();
  });
});

it('a name that no file holds becomes a valid one for all pages', () => {
  const node = { type: 'ReLU', params: {} };
  const graph = {
    version: 2,
    name: 'net',
    nodes: {
      a: { ...node, name: 'my layer' },
      b: { ...node, name: 'my_layer' },
      c: { ...node, name: '卷积' }
    },
    edges: {},
    positions: {}
  };
  expect(resolveConflicts(graph)?.names).toEqual({ a: 'my_layer_1' });
  expect(uniquePath('卷积', new Set(['卷积']))).toBe('卷积_1');
});
