import { settingValue } from '../settings';

test('lists of texts stand without brackets and quotes', () => {
  expect(settingValue(['accuracy', 'f1'])).toBe('accuracy, f1');
  expect(settingValue([1, 2])).toBe('[1,2]');
  expect(settingValue([])).toBe('[]');
  expect(settingValue([{ a: 1 }])).toBe('[{"a":1}]');
  expect(settingValue('adam')).toBe('adam');
  expect(settingValue(null)).toBeNull();
});
