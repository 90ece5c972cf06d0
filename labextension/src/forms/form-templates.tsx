// Templates of the form library for parameter forms.
import {
  FieldTemplateProps,
  ObjectFieldTemplateProps,
  WidgetProps
} from '@rjsf/utils';

import { formatValue } from './field-text';
import type { Json } from '../api/graph';
import { FormWords, TextParam } from './TextParam';

function FieldTemplate(props: FieldTemplateProps) {
  const { id, label, schema, children, hidden } = props;
  if (hidden) {
    return <div hidden>{children}</div>;
  }
  if (schema.type === 'object') {
    return children;
  }
  const kind = schema.type === 'boolean' ? 'labdl-mod-switch' : '';
  return (
    <div className={`labdl-field ${kind}`}>
      <label htmlFor={id} title={props.rawDescription}>
        {label}
      </label>
      {children}
    </div>
  );
}

function ObjectFieldTemplate({ properties }: ObjectFieldTemplateProps) {
  return (
    <div className="labdl-fields">
      {properties.map(property => property.content)}
    </div>
  );
}

function CheckboxWidget({ id, value, onChange }: WidgetProps) {
  return (
    <input
      id={id}
      type="checkbox"
      checked={value === true}
      onChange={event => onChange(event.target.checked)}
    />
  );
}

function SelectWidget(props: WidgetProps) {
  const { id, value, options, onChange } = props;
  const { trans } = props.formContext as FormWords;
  const choices = (options.enumOptions ?? []).map(
    option => option.value as Json
  );
  const at = choices.indexOf(value as Json);
  return (
    <select
      id={id}
      className="labdl-input"
      value={at}
      onChange={event => onChange(choices[Number(event.target.value)])}
    >
      {at < 0 && <option value={-1}>{trans.__('choose…')}</option>}
      {choices.map((choice, index) => (
        <option key={index} value={index}>
          {choice === null ? trans.__('none') : formatValue(choice)}
        </option>
      ))}
    </select>
  );
}

export const FORM_FIELDS = { LabdlText: TextParam };
export const FORM_TEMPLATES = { FieldTemplate, ObjectFieldTemplate };
export const FORM_WIDGETS = { CheckboxWidget, SelectWidget };
