// Settings of a zoo model, as a form of text fields.

import * as React from 'react';

import { formatValue, parseText } from '../../editor';
import type { ParamSchema, Translator } from '../../editor';
import type { ZooSettings } from './zoo-models';

export interface ZooSettingsProps {
  schema: ParamSchema;
  trans: Translator;
  /** Receives the settings that differ from their defaults; null while one is invalid. */
  onChange: (settings: ZooSettings | null) => void;
}

export function ZooSettingsForm(
  props: ZooSettingsProps
): React.JSX.Element | null {
  const { schema, trans, onChange } = props;
  const params = Object.entries(schema.properties ?? {});
  const [texts, setTexts] = React.useState<{ [name: string]: string }>({});
  const id = React.useId();

  const read = (name: string, param: ParamSchema) =>
    name in texts
      ? parseText(texts[name], param, trans)
      : { value: param.default };

  React.useEffect(() => {
    const settings: ZooSettings = {};
    for (const [name, param] of params) {
      const parsed = read(name, param);
      if ('error' in parsed) {
        onChange(null);
        return;
      }
      if (parsed.value !== undefined && parsed.value !== param.default) {
        settings[name] = parsed.value;
      }
    }
    onChange(settings);
  }, [texts]);

  if (!params.length) {
    return null;
  }
  return (
    <div className="labdl-ZooSettings">
      {params.map(([name, param]) => {
        const parsed = read(name, param);
        const error = 'error' in parsed ? parsed.error : null;
        return (
          <label key={name} htmlFor={`${id}${name}`}>
            <span title={name}>{param.title ?? name}</span>
            <input
              // JupyterLab 4.4 asks the browser alone whether a field is valid
              ref={input => input?.setCustomValidity(error ?? '')}
              id={`${id}${name}`}
              className={`jp-mod-styled ${error ? 'jp-mod-error' : ''}`}
              type="text"
              autoComplete="off"
              spellCheck={false}
              value={texts[name] ?? formatValue(param.default)}
              aria-invalid={error !== null}
              aria-describedby={error ? `${id}${name}-error` : undefined}
              onChange={event =>
                setTexts({ ...texts, [name]: event.target.value })
              }
            />
            {error && (
              <span
                id={`${id}${name}-error`}
                className="labdl-ZooSettings-wrong"
                role="alert"
              >
                {error}
              </span>
            )}
          </label>
        );
      })}
    </div>
  );
}
