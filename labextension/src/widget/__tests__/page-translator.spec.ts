import { plainTranslator } from '../../ui/translator';
import { pageTranslator } from '../page-translator';

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
  expect(pageTranslator('zh-CN', catalogs).__(text, ...args)).toBe(expected);
});

test.each([
  ['zh-CN', 1, '1 个层'],
  ['zh-CN', 5, '5 个层'],
  ['xx', 1, 'one'],
  ['xx', 2, 'more: 2'],
  ['en', 1, '1 layer'],
  ['', 2, '2 layers']
])('numbers in %p: %d', (language, n, expected) => {
  const trans = pageTranslator(language, catalogs);
  expect(trans._n('%1 layer', '%1 layers', n)).toBe(expected);
});

test('a page that says nothing, and a build without catalogs', () => {
  expect(pageTranslator()).toBe(plainTranslator);
});
