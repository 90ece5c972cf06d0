// Converts a parameter schema for the form library.
import { RJSFSchema, UiSchema } from '@rjsf/utils';

import type { Json, ParamSchema } from '../api/graph';
import { sameJson } from './same-json';
import { acceptsOf, fieldKind } from './param-schema';

export interface ParamForm {
  schema: RJSFSchema;
  uiSchema: UiSchema;
}

type Params = { [key: string]: Json };

/** The form of a layer; a union becomes one text field or one menu. */
export function paramForm(schema: ParamSchema): ParamForm {
  const properties: { [key: string]: RJSFSchema } = {};
  const uiSchema: UiSchema = {};
  for (const [key, param] of Object.entries(schema.properties ?? {})) {
    const title = param.title ?? key;
    const { description, default: fallback } = param;
    const head = {
      title,
      ...(description === undefined ? {} : { description }),
      ...(fallback === undefined ? {} : { default: fallback })
    } as RJSFSchema;
    const kind = fieldKind(param);
    if (kind === 'text') {
      // No type: the text field validates the input itself.
      properties[key] = head;
      uiSchema[key] = {
        'ui:field': 'LabdlText',
        'ui:options': { param }
      };
    } else if (kind === 'choice') {
      properties[key] = {
        ...head,
        enum: acceptsOf(param).values as RJSFSchema['enum']
      };
    } else if (kind === 'switch') {
      properties[key] = { ...head, type: 'boolean' };
    } else {
      properties[key] = { ...(param as RJSFSchema), title };
    }
  }
  return { schema: { type: 'object', properties }, uiSchema };
}

/** The values in a form: the node's own over the defaults. */
export function visibleParams(schema: ParamSchema, params: Params): Params {
  const shown: Params = {};
  for (const [key, param] of Object.entries(schema.properties ?? {})) {
    if (key in params) {
      shown[key] = params[key];
    } else if (param.default !== undefined) {
      shown[key] = param.default;
    }
  }
  return shown;
}

/** The changed parameters; undefined for those reset to their default. */
export function changedParams(
  schema: ParamSchema,
  before: Params,
  after: { [key: string]: Json | undefined }
): Map<string, Json | undefined> {
  const changes = new Map<string, Json | undefined>();
  for (const [key, param] of Object.entries(schema.properties ?? {})) {
    const value = after[key];
    if (!sameJson(before[key], value)) {
      changes.set(key, sameJson(value, param.default) ? undefined : value);
    }
  }
  return changes;
}
