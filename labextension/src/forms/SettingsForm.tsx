// Form of settings that do not belong to a layer, generated from a schema.
import { useMemo } from 'react';

import type { Json, ParamSchema } from '../api/graph';
import { FormFields } from './FormFields';
import { ownValue, visibleParams } from './param-values';
import { sameJson } from './same-json';
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
  const visible = useMemo(
    () => visibleParams(schema, values),
    [schema, values]
  );

  const change = (name: string, value: Json | undefined) => {
    if (sameJson(visible[name], value)) {
      return;
    }
    const next = { ...values };
    const own = ownValue(schema, name, value);
    if (own === undefined) {
      delete next[name];
    } else {
      next[name] = own;
    }
    props.onChange(next);
  };

  return (
    <FormFields
      idPrefix={id}
      schema={schema}
      values={visible}
      trans={trans}
      nothing={trans.__('none')}
      onChange={change}
    />
  );
}
