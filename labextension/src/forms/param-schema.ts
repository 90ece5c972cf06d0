// Alternatives that a parameter's schema accepts, as one flat record.
import type { Json, ParamSchema } from '../api/graph';

export interface Accepts {
  /** An integer, with bounds. */
  integer?: ParamSchema;
  /** Any number, with bounds. */
  number?: ParamSchema;
  /** A list, with the schema of its items. */
  array?: ParamSchema;
  text: boolean;
  /** Functions whose calls a text may be, with the schemas of their settings. */
  calls?: { [name: string]: ParamSchema };
  /** Fixed values, including null and booleans. */
  values: Json[];
  /** Values that a line of text cannot represent. */
  other: boolean;
}

export function acceptsOf(schema: ParamSchema): Accepts {
  const found: Accepts = { text: false, values: [], other: false };
  const add = (value: Json) => {
    if (!found.values.includes(value)) {
      found.values.push(value);
    }
  };
  const open = [schema];
  for (let next = open.shift(); next; next = open.shift()) {
    const alternatives = next.anyOf ?? next.oneOf;
    if (alternatives) {
      open.push(...alternatives);
      continue;
    }
    if (next.enum) {
      next.enum.forEach(add);
      continue;
    }
    if (next.const !== undefined) {
      add(next.const);
      continue;
    }
    const types = next.type === undefined ? [] : [next.type].flat();
    found.other ||= types.length === 0;
    for (const type of types) {
      if (type === 'integer') {
        found.integer ??= next;
      } else if (type === 'number') {
        found.number ??= next;
      } else if (type === 'array') {
        found.array ??= next;
      } else if (type === 'string') {
        found.text = true;
        found.calls ??= next.calls;
      } else if (type === 'null') {
        add(null);
      } else if (type === 'boolean') {
        add(true);
        add(false);
      } else {
        found.other = true;
      }
    }
  }
  return found;
}

export type FieldKind = 'text' | 'call' | 'choice' | 'switch' | 'untyped';

/** The kind of field for a parameter; "untyped" for one whose values a form cannot edit. */
export function fieldKind(schema: ParamSchema): FieldKind {
  const accepts = acceptsOf(schema);
  if (accepts.other) {
    return 'untyped';
  }
  if (accepts.calls) {
    return 'call';
  }
  if (accepts.integer || accepts.number || accepts.array || accepts.text) {
    return 'text';
  }
  const onlyBooleans = accepts.values.every(
    value => typeof value === 'boolean'
  );
  return onlyBooleans ? 'switch' : 'choice';
}
