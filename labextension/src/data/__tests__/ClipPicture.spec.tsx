// Clips run, unless people prefer less motion: then they run under the pointer and with the focus.

import { fireEvent, render, screen } from '@testing-library/react';
import { ClipPicture } from '../parts/ClipPicture';

function show(isQuiet: boolean) {
  window.matchMedia = (() => ({ matches: isQuiet })) as never;
  HTMLCanvasElement.prototype.getContext = () => null;
  render(
    <button data-tile="0">
      <ClipPicture source="data:image/webp;base64,clip" alt="a clip" />
    </button>
  );
  return screen.getByRole('button');
}

const isRunning = () =>
  document.querySelector('[data-runs]')?.getAttribute('data-runs') === 'true';

it('runs by itself', () => {
  show(false);
  expect(isRunning()).toBe(true);
  expect(screen.getByRole('img')).toHaveProperty(
    'src',
    'data:image/webp;base64,clip'
  );
});

it.each([
  ['pointerEnter', 'pointerLeave'],
  ['focusIn', 'focusOut']
] as const)('with less motion it runs from %s to %s', (begin, end) => {
  const tile = show(true);
  expect(isRunning()).toBe(false);
  expect(screen.getByRole('img').tagName).toBe('CANVAS');
  fireEvent(tile, new Event(begin.toLowerCase(), { bubbles: true }));
  expect(isRunning()).toBe(true);
  fireEvent(tile, new Event(end.toLowerCase(), { bubbles: true }));
  expect(isRunning()).toBe(false);
});
