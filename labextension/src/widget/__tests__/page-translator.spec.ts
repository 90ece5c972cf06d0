import { plainTranslator } from '../../ui/translator';
import {
  pageTranslator,
  stateLanguage,
  translatorFor
} from '../page-translator';
import { TestModel } from './model';

const catalogs = {
  zh_CN: {
    '': { language: 'zh-CN' },
    Train: ['训练'],
    'step %1': ['第 %1 步'],
    '%1 layer': ['%1 个层', '%1 个层']
  },
  xx: { '%1 layer': ['one', 'more: %1'] }
};

test.each([
  ['Train', [], '训练'],
  ['step %1', [7], '第 7 步'],
  [
    'of which there is no translation: %1',
    [7],
    'of which there is no translation: 7'
  ],
  ['', [], '']
])('%p in the language of the page', (text, args, expected) => {
  expect(translatorFor('zh-CN', catalogs).__(text, ...args)).toBe(expected);
});

test.each([
  ['zh-CN', 1, '1 个层'],
  ['zh-CN', 5, '5 个层'],
  ['xx', 1, 'one'],
  ['xx', 2, 'more: 2'],
  ['en', 1, '1 layer'],
  ['', 2, '2 layers']
])('numbers in %p: %d', (language, n, expected) => {
  const trans = translatorFor(language, catalogs);
  expect(trans._n('%1 layer', '%1 layers', n)).toBe(expected);
});

test('a build without catalogs', () => {
  expect(pageTranslator(new TestModel().model)).toBe(plainTranslator);
});

describe('the language of a widget', () => {
  beforeAll(() => {
    (globalThis as { LABDL_CATALOGS?: object }).LABDL_CATALOGS = catalogs;
  });
  afterEach(() => {
    document.documentElement.lang = '';
  });
  afterAll(() => {
    delete (globalThis as { LABDL_CATALOGS?: object }).LABDL_CATALOGS;
  });

  test.each([
    ['zh-CN', 'en', '训练', 'zh-CN'],
    ['en', 'zh_CN', 'Train', 'en'],
    ['', 'zh_CN', '训练', 'zh_CN'],
    ['', 'de_DE', 'Train', 'de_DE']
  ])('page %p, kernel %p', (page, kernel, text, answered) => {
    document.documentElement.lang = page;
    const mock = new TestModel({ _language: kernel });
    stateLanguage(mock.model);
    expect(pageTranslator(mock.model).__('Train')).toBe(text);
    expect(mock.state._language).toBe(answered);
    expect(mock.saved).toHaveLength(page ? 1 : 0);
  });

  test('is stated once', () => {
    document.documentElement.lang = 'zh-CN';
    const mock = new TestModel({ _language: 'zh-CN' });
    stateLanguage(mock.model);
    expect(mock.saved).toEqual([]);
  });
});
