// Keys of input methods in the text fields of the editor, and in forms.
import { act, fireEvent, render, screen } from '@testing-library/react';

import { openEditor } from '../../editor/__tests__/opening';
import { ignoreComposition } from '../composition';
import { EditableText } from '../EditableText';
import { Form } from '../Form';
import { plainTranslator } from '../translator';

let end: () => void;
beforeEach(() => {
  window.localStorage.clear();
  end = ignoreComposition(() => true);
});
afterEach(() => end());

/** The Enter that takes a candidate, as browsers report it during and, in Safari, after the composition. */
const CANDIDATES = [{ isComposing: true }, { keyCode: 229 }];

const layer = {
  type: 'Linear',
  label: 'Linear',
  category: 'any',
  summary: '',
  palette: true,
  inputs: [],
  outputs: [],
  schema: { properties: {} }
};
const open = () => openEditor({ layers: () => Promise.resolve([layer]) });

describe.each(CANDIDATES)('Enter of an input method %j', candidate => {
  const take = (field: HTMLElement) => {
    field.focus();
    fireEvent.compositionStart(field);
    fireEvent.change(field, { target: { value: 'lin' } });
    for (const key of ['Enter', 'Escape', 'ArrowDown']) {
      const isLeft = fireEvent.keyDown(field, { key, ...candidate });
      expect(isLeft).toBe(true); // the input method gets the key
    }
    fireEvent.compositionEnd(field);
  };

  it('adds no layer from the palette', async () => {
    const { document } = await open();
    take(screen.getByLabelText('Search layers'));
    expect(document.snapshot().nodes).toEqual({});
    expect(screen.getByLabelText<HTMLInputElement>('Search layers').value).toBe(
      'lin'
    );
  });

  it('adds no layer from the quick menu', async () => {
    const { document, actions } = await open();
    act(() => actions.openMenu());
    take(screen.getByRole('combobox'));
    expect(document.snapshot().nodes).toEqual({});
    expect(screen.getByRole('combobox')).toBe(window.document.activeElement);
  });

  it('stays in the name of a layer', async () => {
    const { actions } = await open();
    act(() => void actions.addLayer('Linear'));
    const [field] =
      window.document.querySelectorAll<HTMLElement>('#labdl-name');
    take(field);
    expect(field).toBe(window.document.activeElement);
  });

  it('saves no text and submits no form', () => {
    const save = jest.fn();
    render(
      <>
        <EditableText
          value="run"
          label="Name"
          placeholder=""
          onKeep={save}
          trans={plainTranslator}
        >
          run
        </EditableText>
        <Form onSubmit={save}>
          <input aria-label="learning rate" />
          <button type="submit">Start</button>
        </Form>
      </>
    );
    take(screen.getByLabelText('learning rate'));
    fireEvent.click(screen.getByRole('button', { name: 'Name: run' }));
    take(screen.getByRole('textbox', { name: 'Name' }));
    expect(save).not.toHaveBeenCalled();
  });
});
