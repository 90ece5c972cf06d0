// Formats and parses parameter values as text: 3 | 3, 3 | same | N, 3, ?, ? | auto.
import type { Json, ParamSchema } from '../api/graph';
import { Accepts, acceptsOf } from './param-schema';
import { Translator } from '../ui/translator';

export type Parsed = { value: Json | undefined } | { error: string };

/** Marks of the canvas: for a value that is found by itself, for an unknown size, and for the size of a batch. */
const AUTO = 'auto';
const UNKNOWN = '?';
const BATCH = 'N';
const NULL_WORDS = new Set([AUTO, UNKNOWN, 'none', 'null']);

/** The text of a value; empty for undefined. The first axis of a setting `shape` is the batch. */
export function formatValue(value: Json | undefined, name?: string): string {
  if (value === undefined) {
    return '';
  }
  if (value === null) {
    return AUTO;
  }
  if (Array.isArray(value)) {
    const isNested = value.some(Array.isArray);
    const items = value.map((item, at) => {
      if (item === null) {
        return name === 'shape' && at === 0 ? BATCH : UNKNOWN;
      }
      return Array.isArray(item) && !item.some(Array.isArray)
        ? `[${formatValue(item)}]`
        : formatValue(item);
    });
    // The outer brackets distinguish [[1, 2]] from [1, 2].
    return isNested ? `[${items.join(', ')}]` : items.join(', ');
  }
  if (typeof value === 'object') {
    // Numbers that JSON cannot represent, and floats of undeclared type.
    const { float, ...others } = value;
    return typeof float === 'string' && Object.keys(others).length === 0
      ? float
      : JSON.stringify(value);
  }
  return String(value);
}

/** The value of a text according to a schema, or an error message. */
export function parseText(
  text: string,
  schema: ParamSchema,
  trans: Translator
): Parsed {
  const trimmed = text.trim();
  if (trimmed === '') {
    return emptyValue(schema, trans);
  }
  return parse(trimmed, acceptsOf(schema), trans);
}

function emptyValue(schema: ParamSchema, trans: Translator): Parsed {
  if (schema.default !== undefined) {
    return { value: undefined };
  }
  const accepts = acceptsOf(schema);
  if (accepts.values.includes(null)) {
    return { value: null };
  }
  return accepts.text
    ? { value: '' }
    : {
        error: trans.__('A value is required: %1.', expectation(accepts, trans))
      };
}

function parse(
  text: string,
  accepts: Accepts,
  trans: Translator,
  isItem = false
): Parsed {
  const word = text.replace(/^(['"])(.*)\1$/, '$2');
  const fixed = accepts.values.find(
    value =>
      value !== null && String(value).toLowerCase() === word.toLowerCase()
  );
  if (fixed !== undefined) {
    return { value: fixed };
  }
  if (accepts.values.includes(null) && NULL_WORDS.has(text.toLowerCase())) {
    return { value: null };
  }
  const numeric = parseNumber(text, accepts, trans);
  if (numeric) {
    return numeric;
  }
  if (accepts.array && (!accepts.text || /^[[(]/.test(text))) {
    return parseList(text, accepts.array, accepts, trans);
  }
  return accepts.text
    ? { value: word }
    : { error: sentence(text, accepts, trans, isItem) };
}

function parseNumber(
  text: string,
  accepts: Accepts,
  trans: Translator
): Parsed | null {
  const { integer, number } = accepts;
  if (
    !(number ?? integer) ||
    !/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text)
  ) {
    return null;
  }
  const value = Number(text);
  if (!number && !Number.isInteger(value)) {
    return {
      error: trans.__('%1 is not an integer.', text)
    };
  }
  if (!number && !Number.isSafeInteger(value)) {
    return {
      error: trans.__(
        '%1 is too large: whole numbers are exact up to %2.',
        text,
        Number.MAX_SAFE_INTEGER.toLocaleString('en')
      )
    };
  }
  // an integer may have other bounds than a number: a count of batches, or a share of them
  const rules = [number, Number.isInteger(value) ? integer : undefined];
  const errors = rules.flatMap(rule =>
    rule ? [outOfBounds(value, rule, trans)] : []
  );
  return errors.includes(null) ? { value } : { error: errors[0] ?? '' };
}

function outOfBounds(
  value: number,
  rule: ParamSchema,
  trans: Translator
): string | null {
  if (rule.minimum !== undefined && value < rule.minimum) {
    return trans.__('Must be %1 or more.', rule.minimum);
  }
  if (rule.maximum !== undefined && value > rule.maximum) {
    return trans.__('Must be %1 or less.', rule.maximum);
  }
  if (rule.exclusiveMinimum !== undefined && value <= rule.exclusiveMinimum) {
    return trans.__('Must be more than %1.', rule.exclusiveMinimum);
  }
  if (rule.exclusiveMaximum !== undefined && value >= rule.exclusiveMaximum) {
    return trans.__('Must be less than %1.', rule.exclusiveMaximum);
  }
  return null;
}

function parseList(
  text: string,
  rule: ParamSchema,
  accepts: Accepts,
  trans: Translator
): Parsed {
  const bare = isBracketed(text) ? text.slice(1, -1) : text;
  const items = splitItems(bare);
  // A single word that is no valid list is parsed as an item, for its error message.
  if (items.length === 1 && bare === text && accepts.values.length) {
    const only = parseItem(items[0], rule, trans);
    return 'error' in only
      ? { error: sentence(text, accepts, trans) }
      : { value: [only.value as Json] };
  }
  const values: Json[] = [];
  for (const item of items) {
    const parsed = parseItem(item, rule, trans);
    if ('error' in parsed) {
      return parsed;
    }
    values.push(parsed.value as Json);
  }
  if (rule.minItems !== undefined && values.length < rule.minItems) {
    return {
      error: trans._n(
        'At least %1 value is needed, separated by commas.',
        'At least %1 values are needed, separated by commas.',
        rule.minItems
      )
    };
  }
  if (rule.maxItems !== undefined && values.length > rule.maxItems) {
    return {
      error: trans._n(
        'At most %1 value is allowed.',
        'At most %1 values are allowed.',
        rule.maxItems
      )
    };
  }
  return { value: values };
}

function parseItem(text: string, rule: ParamSchema, trans: Translator): Parsed {
  if (text === '') {
    return { error: trans.__('Empty value between two commas.') };
  }
  const { items } = rule;
  const isTyped = items && Object.keys(items).length > 0;
  const accepts = acceptsOf(isTyped ? items : { type: 'number' });
  return text === BATCH && !accepts.text && accepts.values.includes(null)
    ? { value: null }
    : parse(text, accepts, trans, true);
}

/** Whether the first bracket is closed by the last one. */
function isBracketed(text: string): boolean {
  if (!/^(\[.*\]|\(.*\))$/s.test(text)) {
    return false;
  }
  let depth = 0;
  return [...text].every((letter, index) => {
    depth += stepOf(letter);
    return depth > 0 || index === text.length - 1;
  });
}

/** Change of the bracket depth at a character. */
function stepOf(letter: string): number {
  return '[('.includes(letter) ? 1 : '])'.includes(letter) ? -1 : 0;
}

/** Splits at commas outside brackets; a trailing comma is ignored. */
function splitItems(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let item = '';
  for (const letter of text) {
    if (letter === ',' && depth === 0) {
      items.push(item.trim());
      item = '';
      continue;
    }
    depth += stepOf(letter);
    item += letter;
  }
  if (item.trim() !== '') {
    items.push(item.trim());
  }
  return items;
}

function sentence(
  text: string,
  accepts: Accepts,
  trans: Translator,
  isItem = false
): string {
  return trans.__(
    '“%1” is not valid: %2.',
    text,
    expectation(accepts, trans, isItem)
  );
}

/** Description of the accepted input, as in "an integer, or same". */
export function expectation(
  accepts: Accepts,
  trans: Translator,
  isItem = false
): string {
  const kinds: string[] = [];
  if (accepts.number) {
    kinds.push(trans.__('a number'));
  } else if (accepts.integer) {
    kinds.push(trans.__('an integer'));
  }
  if (accepts.array) {
    kinds.push(trans.__('values separated by commas'));
  }
  for (const value of accepts.values) {
    const nothing = isItem ? trans.__('? for unknown') : AUTO;
    kinds.push(value === null ? nothing : String(value));
  }
  return trans.__('enter %1', kinds.join(trans.__(', or ')));
}
