// Form of settings that do not belong to a layer, generated from a schema.
import Form from '@rjsf/core';
import validator from '@rjsf/validator-ajv8';
import { useMemo } from 'react';

import { FORM_FIELDS, FORM_TEMPLATES, FORM_WIDGETS } from './form-templates';
import type { Json, ParamSchema } from '../api/graph';
import { changedParams, paramForm, visibleParams } from './param-form';
import { Translator } from '../ui/translator';

export interface Settings {
  [name: string]: Json;
}

export interface SettingsFormProps {
  /** Prefix of the field ids, unique on the page. */
  id: string;
  schema: ParamSchema;
  /** Settings that differ from their defaults. */
  values: Settings;
  trans: Translator;
  onChange: (values: Settings) => void;
}

export function SettingsForm(props: SettingsFormProps) {
  const { id, schema, values, trans } = props;
  const form = useMemo(() => paramForm(schema), [schema]);
  const shown = useMemo(() => visibleParams(schema, values), [schema, values]);

  const change = (data: { [name: string]: Json | undefined }) => {
    const changes = changedParams(schema, shown, data);
    if (!changes.size) {
      return;
    }
    const next = { ...values };
    changes.forEach((value, name) => {
      if (value === undefined) {
        delete next[name];
      } else {
        next[name] = value;
      }
    });
    props.onChange(next);
  };

  return (
    <Form
      tagName="div"
      className="labdl-form"
      idPrefix={id}
      schema={form.schema}
      uiSchema={form.uiSchema}
      formData={shown}
      validator={validator}
      fields={FORM_FIELDS}
      templates={FORM_TEMPLATES}
      widgets={FORM_WIDGETS}
      formContext={{ trans, nothing: trans.__('none') }}
      noValidate
      onChange={event =>
        change(event.formData as { [name: string]: Json | undefined })
      }
    >
      <></>
    </Form>
  );
}
