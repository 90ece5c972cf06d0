// Fields of a form, one for each property of a schema: text, menu or switch.
import type { Json, ParamSchema } from '../api/graph';
import type { FieldProps } from './field-props';
import { formatValue } from './field-text';
import { acceptsOf, fieldKind } from './param-schema';
import { ownValue, visibleParams } from './param-values';
import { readCall, writeCall } from './call-text';
import { TextParam } from './TextParam';
import { Translator } from '../ui/translator';

export interface FormFieldsProps {
  /** Prefix of the field ids, unique on the page. */
  idPrefix: string;
  schema: ParamSchema;
  /** Values, those of defaults included. */
  values: { [name: string]: Json };
  trans: Translator;
  /** Text for a value that is not set; "auto" without it. */
  nothing?: string;
  onChange: (name: string, value: Json | undefined) => void;
  /** Called when a field loses the focus. */
  onBlur?: () => void;
}

// Not a <form>, which Enter would submit.
export function FormFields(props: FormFieldsProps) {
  const { idPrefix, schema, values, trans, nothing, onChange, onBlur } = props;
  return (
    <div className="labdl-form" onBlur={onBlur}>
      <div className="labdl-fields">
        {Object.entries(schema.properties ?? {}).map(([name, param]) => (
          <Field
            key={name}
            id={`${idPrefix}_${name}`}
            name={name}
            label={param.title ?? name}
            param={param}
            value={values[name]}
            trans={trans}
            nothing={nothing}
            onChange={value => onChange(name, value)}
          />
        ))}
      </div>
    </div>
  );
}

const INPUTS = { text: TextParam, call: Call, choice: Choice, switch: Switch };

function Field({ label, ...props }: FieldProps & { label: string }) {
  const { id, param, value } = props;
  const kind = fieldKind(param);
  // without a type nothing tells how a text would be read: the value of a traced call is shown as it is
  if (kind === 'untyped' && value === undefined) {
    return null;
  }
  const Input = kind === 'untyped' ? Value : INPUTS[kind];
  return (
    <div
      className={`labdl-field ${kind === 'switch' ? 'labdl-mod-switch' : ''}`}
    >
      <label htmlFor={id} title={param.description}>
        {label}
      </label>
      <Input {...props} />
    </div>
  );
}

function Switch({ id, value, onChange }: FieldProps) {
  return (
    <input
      id={id}
      type="checkbox"
      checked={value === true}
      onChange={event => onChange(event.target.checked)}
    />
  );
}

function Choice({ id, param, value, trans, onChange }: FieldProps) {
  const choices = acceptsOf(param).values;
  const at = choices.findIndex(choice => choice === value);
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

/** Menu of functions, and the settings of the chosen one; a text that is no call of them is edited as it is. */
function Call({
  id,
  name,
  param,
  value,
  trans,
  nothing,
  onChange
}: FieldProps) {
  const { calls = {}, values } = acceptsOf(param);
  const call = value === null ? null : readCall(value, calls, values);
  if (call === undefined) {
    const props = { id, name, param, value, trans, nothing, onChange };
    return <TextParam {...props} />;
  }
  const at = values.indexOf(call?.name ?? null);
  const schema = call && calls[call.name];
  return (
    <>
      <select
        id={id}
        className="labdl-input"
        value={at}
        onChange={event => onChange(values[Number(event.target.value)])}
      >
        {values.map((word, index) => (
          <option key={index} value={index}>
            {word === null ? trans.__('none') : formatValue(word)}
          </option>
        ))}
      </select>
      {call && schema && (
        <div className="labdl-field-settings">
          <FormFields
            idPrefix={`${id}_${call.name}`}
            schema={schema}
            values={visibleParams(schema, call.settings)}
            trans={trans}
            onChange={(key, setting) => {
              const settings = { ...call.settings };
              const own = ownValue(schema, key, setting);
              if (own === undefined) {
                delete settings[key];
              } else {
                settings[key] = own;
              }
              onChange(writeCall(call.name, settings));
            }}
          />
        </div>
      )}
    </>
  );
}

function Value({ id, name, value }: FieldProps) {
  return <output id={id}>{formatValue(value, name)}</output>;
}
