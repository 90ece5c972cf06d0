// Checks data against the schemas generated from Python's models: JSON Schema as far as these use it.

/** Numbers of a column; null (JSON) and NaN (binary) both mean "not a finite number". */
export type Column = ArrayLike<number | null>;

/** A column of integers, such as steps. */
export type Indices = ArrayLike<number>;

export interface Schema {
  type?:
    'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'column'; // prettier-ignore
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  /** The field that says which of the options an object is. */
  tag?: string;
  options?: { readonly [tag: string]: string };
  $ref?: string;
  properties?: { readonly [name: string]: Schema };
  required?: readonly string[];
  /** Of an object with any keys. */
  values?: Schema;
  items?: Schema;
  prefixItems?: readonly Schema[];
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
}

export interface Schemas {
  readonly [name: string]: Schema;
}

type Fields = { readonly [name: string]: unknown };

const INVALID = Symbol('invalid');

/**
 * A function that returns data as one of the types, or null. Fields that are not in the schema are kept. An optional field
 * with a wrong value is left out, in a copy; a required one makes the object invalid.
 */
export function validator<Models>(schemas: Schemas) {
  const readObject = (schema: Schema, value: Fields): unknown => {
    const wrong: string[] = [];
    const changed: [string, unknown][] = [];
    const readField = (name: string, inner: Schema, isRequired: boolean) => {
      const field = value[name];
      const found = field === undefined ? INVALID : read(inner, field);
      if (found !== INVALID) {
        if (found !== field) {
          changed.push([name, found]);
        }
      } else if (isRequired) {
        return false;
      } else if (field !== undefined) {
        wrong.push(name);
      }
      return true;
    };
    for (const [name, inner] of Object.entries(schema.properties ?? {})) {
      if (!readField(name, inner, schema.required?.includes(name) ?? false)) {
        return INVALID;
      }
    }
    if (schema.values) {
      for (const name of Object.keys(value)) {
        readField(name, schema.values, false);
      }
    }
    if (!wrong.length && !changed.length) {
      return value;
    }
    const left = Object.entries(value).filter(
      ([name]) => !wrong.includes(name)
    );
    return Object.fromEntries([...left, ...changed]);
  };

  const readArray = (schema: Schema, value: readonly unknown[]): unknown => {
    const { items, prefixItems, minItems = 0, maxItems = Infinity } = schema;
    if (value.length < minItems || value.length > maxItems) {
      return INVALID;
    }
    if (!items && !prefixItems) {
      return value;
    }
    const found = value.map((each, i) =>
      read(prefixItems?.[i] ?? items ?? {}, each)
    );
    return found.includes(INVALID)
      ? INVALID
      : found.every((each, i) => each === value[i])
        ? value
        : found;
  };

  const read = (schema: Schema, value: unknown): unknown => {
    if (schema.$ref !== undefined) {
      return read(schemas[schema.$ref], value);
    }
    if ('const' in schema) {
      return value === schema.const ? value : INVALID;
    }
    if (schema.enum) {
      return schema.enum.includes(value) ? value : INVALID;
    }
    if (schema.tag !== undefined && schema.options) {
      const tag = isObject(value) ? value[schema.tag] : undefined;
      return typeof tag === 'string' && Object.hasOwn(schema.options, tag)
        ? read(schemas[schema.options[tag]], value)
        : INVALID;
    }
    if (schema.anyOf) {
      for (const option of schema.anyOf) {
        const found = read(option, value);
        if (found !== INVALID) {
          return found;
        }
      }
      return INVALID;
    }
    switch (schema.type) {
      case 'object':
        return isObject(value) ? readObject(schema, value) : INVALID;
      case 'array':
        return Array.isArray(value) ? readArray(schema, value) : INVALID;
      case 'column':
        return isColumn(value) ? value : INVALID;
      case 'string':
        return isString(schema, value) ? value : INVALID;
      case 'number':
        return isNumber(schema, value) ? value : INVALID;
      case 'integer':
        return Number.isInteger(value) && isNumber(schema, value)
          ? value
          : INVALID;
      case 'boolean':
        return typeof value === 'boolean' ? value : INVALID;
      case 'null':
        return value === null ? value : INVALID;
      default:
        return value;
    }
  };

  return <Name extends keyof Models & string>(
    name: Name,
    value: unknown
  ): Models[Name] | null => {
    const found = read(schemas[name], value);
    return found === INVALID ? null : (found as Models[Name]);
  };
}

function isObject(value: unknown): value is Fields {
  return (
    value !== null &&
    typeof value === 'object' &&
    !Array.isArray(value) &&
    !ArrayBuffer.isView(value)
  );
}

/** Its numbers are not looked at: there may be very many. */
function isColumn(value: unknown): boolean {
  return (
    Array.isArray(value) ||
    (ArrayBuffer.isView(value) && !(value instanceof DataView))
  );
}

function isString(schema: Schema, value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value.length >= (schema.minLength ?? 0) &&
    value.length <= (schema.maxLength ?? Infinity) &&
    (schema.pattern === undefined || new RegExp(schema.pattern).test(value))
  );
}

function isNumber(schema: Schema, value: unknown): boolean {
  return (
    typeof value === 'number' &&
    Number.isFinite(value) &&
    value >= (schema.minimum ?? -Infinity) &&
    value <= (schema.maximum ?? Infinity) &&
    value > (schema.exclusiveMinimum ?? -Infinity) &&
    value < (schema.exclusiveMaximum ?? Infinity)
  );
}
