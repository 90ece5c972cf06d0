import { runWithFocus } from '../focus';

test('a key in an editor runs at once, a command from elsewhere after the focus is back', () => {
  jest.useFakeTimers();
  document.body.innerHTML =
    '<input id="palette"><div class="labdl-editor"><div id="canvas" tabindex="0"></div></div>';
  const focus = (id: string) => document.getElementById(id)?.focus();
  const run = jest.fn();

  focus('canvas');
  runWithFocus(run);
  expect(run).toHaveBeenCalledTimes(1);

  focus('palette');
  runWithFocus(run);
  expect(run).toHaveBeenCalledTimes(1);
  jest.runAllTimers();
  expect(run).toHaveBeenCalledTimes(2);
});
