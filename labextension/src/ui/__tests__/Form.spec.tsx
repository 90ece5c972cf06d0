// Enter in a form: one submission, under the rules of browsers.
import { fireEvent, render, screen } from '@testing-library/react';

import { Form } from '../Form';

const submit = jest.fn();
// jsdom lacks requestSubmit's submitter
beforeAll(() => {
  HTMLFormElement.prototype.requestSubmit = function () {
    this.dispatchEvent(
      new Event('submit', { bubbles: true, cancelable: true })
    );
  };
});
beforeEach(() => submit.mockReset());

function show(isDisabled = false) {
  render(
    <Form onSubmit={submit}>
      <input type="text" aria-label="text" />
      <textarea aria-label="lines" />
      <input type="button" aria-label="other" />
      <button type="submit" disabled={isDisabled}>
        Start
      </button>
    </Form>
  );
}

const enter = (label: string, more = {}) =>
  fireEvent.keyDown(screen.getByLabelText(label), { key: 'Enter', ...more });

it('submits once, and the browser not again', () => {
  show();
  const isLeft = enter('text');
  expect(submit).toHaveBeenCalledTimes(1);
  expect(isLeft).toBe(false);
});

it('submits from text fields alone', () => {
  show();
  enter('lines');
  enter('other');
  enter('text', { ctrlKey: true });
  fireEvent.keyDown(screen.getByLabelText('text'), { key: 'a' });
  expect(submit).not.toHaveBeenCalled();
});

it('does not submit when its button is disabled', () => {
  show(true);
  enter('text');
  expect(submit).not.toHaveBeenCalled();
});
