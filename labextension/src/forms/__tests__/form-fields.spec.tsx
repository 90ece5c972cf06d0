// Tests of the fields that a form makes of a schema.
import { fireEvent, render, screen } from '@testing-library/react';

import type { Json, ParamSchema } from '../../api/graph';
import { plainTranslator } from '../../ui/translator';
import { FormFields } from '../FormFields';
import { SettingsForm } from '../SettingsForm';

const SCHEMA: ParamSchema = {
  properties: {
    units: { type: 'integer', title: 'Units', description: 'Size of y' },
    bias: { type: 'boolean', default: true },
    mode: { anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }], default: null },
    x: { title: 'x' },
    k: { title: 'k' }
  }
};

function form(values: { [name: string]: Json }) {
  const changes: [string, Json | undefined][] = [];
  const left = jest.fn();
  render(
    <FormFields
      idPrefix="labdl"
      schema={SCHEMA}
      values={values}
      trans={plainTranslator}
      onChange={(name, value) => changes.push([name, value])}
      onBlur={left}
    />
  );
  return { changes, left };
}

/** An initializer's field with this value; returns its last change. */
function initializer(value: Json): { last: () => Json | undefined } {
  const change = jest.fn<void, [string, Json | undefined]>();
  const std = { type: 'number', default: 0.02, exclusiveMinimum: 0 };
  const mode = { enum: ['fan_in', 'fan_out'], default: 'fan_in' };
  const calls = {
    normal: { properties: { std } },
    he: { properties: { mode } }
  };
  const anyOf = [
    { enum: ['zeros', 'normal', 'he'] },
    { type: 'string', calls }
  ];
  render(
    <FormFields
      idPrefix="labdl"
      schema={{ properties: { init: { anyOf, title: 'Kernel Init' } } }}
      values={{ init: value }}
      trans={plainTranslator}
      onChange={change}
    />
  );
  return { last: () => change.mock.lastCall?.[1] };
}

describe('a field of calls', () => {
  it('is a menu of names', () => {
    const { last } = initializer('zeros');
    const menu = screen.getByLabelText('Kernel Init');
    expect(menu.tagName).toBe('SELECT');
    fireEvent.change(menu, { target: { value: '2' } });
    expect(last()).toBe('he');
  });

  it('has fields for the settings of the chosen one', () => {
    const { last } = initializer('normal(std=0.01)');
    const std = screen.getByLabelText('std');
    expect(std).toHaveProperty('value', '0.01');
    fireEvent.change(std, { target: { value: '0.5' } });
    expect(last()).toBe('normal(std=0.5)');
    fireEvent.change(std, { target: { value: '0.02' } });
    expect(last()).toBe('normal');
    fireEvent.change(std, { target: { value: '-1' } });
    expect(screen.getByRole('alert')).toBeTruthy();
    expect(last()).toBe('normal');
  });

  it('has menus for settings with choices', () => {
    const { last } = initializer('he');
    fireEvent.change(screen.getByLabelText('mode'), { target: { value: '1' } });
    expect(last()).toBe('he(mode="fan_out")');
  });

  it('edits a text that is no call of them as it is', () => {
    initializer('normal(std=x)');
    expect(screen.getByLabelText('Kernel Init')).toHaveProperty(
      'value',
      'normal(std=x)'
    );
  });
});

describe('FormFields', () => {
  it('has a labelled field for each property, with its value', () => {
    form({ units: 4, bias: true, mode: 'b' });
    expect(screen.getByLabelText('Units')).toHaveProperty('value', '4');
    expect(screen.getByText('Units').title).toBe('Size of y');
    expect(screen.getByLabelText('bias')).toHaveProperty('checked', true);
    const mode = screen.getByLabelText<HTMLSelectElement>('mode');
    expect(mode.selectedOptions[0].text).toBe('b');
    expect([...mode.options].map(({ text }) => text)).toEqual([
      'a',
      'b',
      'none'
    ]);
    expect(mode.id).toBe('labdl_mode');
  });

  it('reports the values that a person enters', () => {
    const { changes, left } = form({ bias: true, mode: null });
    fireEvent.change(screen.getByLabelText('Units'), {
      target: { value: '16' }
    });
    fireEvent.click(screen.getByLabelText('bias'));
    fireEvent.change(screen.getByLabelText('mode'), { target: { value: 0 } });
    expect(changes).toEqual([
      ['units', 16],
      ['bias', false],
      ['mode', 'a']
    ]);
    fireEvent.blur(screen.getByLabelText('Units'));
    expect(left).toHaveBeenCalledTimes(1);
  });

  it('reports no value that the schema does not accept', () => {
    const { changes } = form({ units: 4 });
    fireEvent.change(screen.getByLabelText('Units'), {
      target: { value: 'many' }
    });
    expect(changes).toEqual([]);
    expect(screen.getByRole('alert').id).toBe('labdl_units-error');
  });

  it('asks for a choice where there is none', () => {
    form({});
    const mode = screen.getByLabelText<HTMLSelectElement>('mode');
    expect(mode.selectedOptions[0].text).toBe('choose…');
  });

  it('shows values without a type as they are, and only those', () => {
    form({ k: [0, 1] });
    expect(screen.getByLabelText('k').textContent).toBe('0, 1');
    expect(screen.queryByText('x')).toBeNull();
  });
});

describe('SettingsForm', () => {
  it('keeps only what differs from the defaults', () => {
    const changes: object[] = [];
    const show = (values: { [name: string]: Json }) => (
      <SettingsForm
        id="t"
        schema={SCHEMA}
        values={values}
        trans={plainTranslator}
        onChange={next => changes.push(next)}
      />
    );
    const { rerender } = render(show({ units: 2 }));
    fireEvent.click(screen.getByLabelText('bias'));
    rerender(show({ units: 2, bias: false }));
    fireEvent.click(screen.getByLabelText('bias'));
    expect(changes).toEqual([{ units: 2, bias: false }, { units: 2 }]);
  });
});
