// Values of parameters: a form shows all, a node or a file keeps those that differ from their defaults.
import type { Json, ParamSchema } from '../api/graph';
import { sameJson } from './same-json';

type Params = { [key: string]: Json };

/** The values in a form: the node's own over the defaults. */
export function visibleParams(schema: ParamSchema, params: Params): Params {
  const visible: Params = {};
  for (const [key, param] of Object.entries(schema.properties ?? {})) {
    if (key in params) {
      visible[key] = params[key];
    } else if (param.default !== undefined) {
      visible[key] = param.default;
    }
  }
  return visible;
}

/** The value of a parameter as it is kept: undefined for its default. */
export function ownValue(
  schema: ParamSchema,
  key: string,
  value: Json | undefined
): Json | undefined {
  return sameJson(value, schema.properties?.[key]?.default) ? undefined : value;
}
