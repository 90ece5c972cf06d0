import { terminalText } from '../terminal-text';

test.each([
  ['\u001b[31mred\u001b[0m and \u001b[1;38;5;196mbold\u001b[m', 'red and bold'],
  ['\u001b]0;title\u0007text\u001b]8;;http://x\u001b\\link', 'textlink'],
  ['10%\r50%\r100%\ndone', '100%\ndone'],
  ['lines\r\nof Windows\r\n', 'lines\nof Windows\n'],
  ['bell\u0007 and\ttab', 'bell and\ttab'],
  ['array[31m] stays: ü 卷积', 'array[31m] stays: ü 卷积']
])('%j is shown as %j', (raw, text) => {
  expect(terminalText(raw)).toBe(text);
});

test('a hostile text takes no time', () => {
  const raw =
    '\u001b[' + '0;'.repeat(100_000) + '\r'.repeat(100_000) + '\u001b]';
  expect(terminalText(raw).length).toBeLessThan(raw.length);
});
