// Tests of parsing parameters from text: accepted input and error messages.
import { formatValue, parseText } from '../field-text';
import { Json, ParamSchema } from '../../api/graph';
import { fieldKind } from '../param-schema';
import { ownValue, visibleParams } from '../param-values';
import { plainTranslator } from '../../ui/translator';

const KERNEL: ParamSchema = {
  anyOf: [
    { type: 'integer', minimum: 1 },
    { type: 'array', items: { type: 'integer', minimum: 1 }, maxItems: 3 },
    { enum: ['same', 'valid'] }
  ],
  default: 3
};
const SHAPE: ParamSchema = {
  type: 'array',
  items: { type: ['integer', 'null'], minimum: 1 }
};
const RATE: ParamSchema = {
  type: 'number',
  minimum: 0,
  exclusiveMaximum: 1,
  default: 0.5
};
const BATCHES: ParamSchema = {
  anyOf: [
    { type: 'integer', minimum: 1 },
    { type: 'number', exclusiveMinimum: 0, maximum: 1 },
    { type: 'null' }
  ],
  default: null
};
const MAYBE: ParamSchema = { type: ['integer', 'null'] };
const WORD: ParamSchema = { type: 'string', default: 'abc' };
const PAIRS: ParamSchema = {
  type: 'array',
  items: { type: 'array', items: { type: 'integer' } }
};

const parse = (text: string, schema: ParamSchema) =>
  parseText(text, schema, plainTranslator);

describe('parseText', () => {
  it.each<[string, ParamSchema, Json | undefined]>([
    ['3', KERNEL, 3],
    [' 3, 3 ', KERNEL, [3, 3]],
    ['(3, 5)', KERNEL, [3, 5]],
    ['[3,5]', KERNEL, [3, 5]],
    ['3,', KERNEL, [3]],
    ['same', KERNEL, 'same'],
    ["'Valid'", KERNEL, 'valid'],
    ['', KERNEL, undefined],
    ['?, 1, 8, 8', SHAPE, [null, 1, 8, 8]],
    ['None, 10', SHAPE, [null, 10]],
    ['N, 1, 8, 8', SHAPE, [null, 1, 8, 8]],
    ['10', SHAPE, [10]],
    ['?', MAYBE, null],
    ['none', MAYBE, null],
    ['auto', MAYBE, null],
    ['', MAYBE, null],
    ['7', MAYBE, 7],
    ['0.25', RATE, 0.25],
    ['0.25', BATCHES, 0.25],
    ['40', BATCHES, 40],
    ['', BATCHES, undefined],
    ['1e-3', RATE, 0.001],
    ['.5', RATE, 0.5],
    ['two words', WORD, 'two words'],
    [
      '[1, 2], [3, 4]',
      PAIRS,
      [
        [1, 2],
        [3, 4]
      ]
    ]
  ])('takes %p', (text, schema, value) => {
    expect(parse(text, schema)).toEqual({ value });
  });

  it.each<[string, ParamSchema, RegExp]>([
    ['9007199254740993', KERNEL, /too large: .* up to 9,007,199,254,740,991/],
    ['1e20', KERNEL, /1e20 is too large/],
    ['3, 9007199254740993', KERNEL, /too large/],
    ['smae', KERNEL, /“smae” is not valid: enter an integer, or values/],
    ['0', KERNEL, /Must be 1 or more/],
    ['3, 0', KERNEL, /Must be 1 or more/],
    ['3, x', KERNEL, /“x” is not valid/],
    ['N, 3', KERNEL, /“N” is not valid/],
    ['3,, 3', KERNEL, /Empty value between two commas/],
    ['1, 2, 3, 4', KERNEL, /At most 3 values/],
    ['2.5', KERNEL, /2.5 is not an integer/],
    ['', SHAPE, /A value is required/],
    ['1', RATE, /Must be less than 1/],
    ['1.5', BATCHES, /Must be 1 or less/],
    ['-1', RATE, /Must be 0 or more/],
    ['?', RATE, /is not valid: enter a number/]
  ])('refuses %p', (text, schema, reason) => {
    const parsed = parse(text, schema);
    expect('error' in parsed ? parsed.error : '').toMatch(reason);
  });

  it.each<[Json, ParamSchema]>([
    [[null, 3, 224, 224], SHAPE],
    [null, MAYBE],
    ['same', KERNEL],
    [1e-7, RATE],
    [[[1, 2], [3]], PAIRS]
  ])('reads what it wrote: %j', (value, schema) => {
    expect(parse(formatValue(value, 'shape'), schema)).toEqual({ value });
  });

  it('has the marks of the canvas for the batch, unknown sizes and defaults', () => {
    expect(formatValue([null, 3, null, 8], 'shape')).toBe('N, 3, ?, 8');
    expect(formatValue([null, 8], 'sizes')).toBe('?, 8');
    expect(formatValue(null)).toBe('auto');
  });

  it('shows floats whose type JSON does not keep as numbers', () => {
    expect(formatValue({ float: '2.0' })).toBe('2.0');
    expect(formatValue([{ float: '-inf' }, 1])).toBe('-inf, 1');
    expect(formatValue({ float: 2 })).toBe('{"float":2}');
  });
});

describe('the form of a layer', () => {
  const schema: ParamSchema = {
    type: 'object',
    properties: {
      size: KERNEL,
      units: { type: 'integer' },
      bias: { type: 'boolean', default: true },
      mode: { anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }], default: null }
    }
  };

  it('chooses a field for each parameter', () => {
    const kinds = Object.values(schema.properties ?? {}).map(fieldKind);
    expect(kinds).toEqual(['text', 'text', 'switch', 'choice']);
    expect(fieldKind({ type: 'object' })).toBe('untyped');
    expect(fieldKind({})).toBe('untyped');
  });

  it('shows defaults and writes only what differs from them', () => {
    const shown = visibleParams(schema, { units: 4 });
    expect(shown).toEqual({ size: 3, units: 4, bias: true, mode: null });
    expect(ownValue(schema, 'size', 3)).toBeUndefined();
    expect(ownValue(schema, 'size', [5, 5])).toEqual([5, 5]);
    expect(ownValue(schema, 'bias', false)).toBe(false);
    expect(ownValue(schema, 'units', null)).toBeNull();
  });
});
