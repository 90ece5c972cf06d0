// A dozen layers with made-up arithmetic, enough to try the editor without Python.
import { LayerSchema, NodeData, Shape } from '../src/editor/model/graph-data';

type ParamSchema = LayerSchema['schema'];

/** The output's shape and the number of parameters, or a plain sentence. */
type Rule = (
  inputs: Shape[],
  params: { [key: string]: unknown }
) => { shape: Shape; parameters?: number };

interface MockLayer {
  schema: LayerSchema;
  rule: Rule;
}

const count = (minimum = 1): ParamSchema => ({ type: 'integer', minimum });
const sizes = (fallback: number | string): ParamSchema => ({
  anyOf: [
    { type: 'integer', minimum: 1 },
    { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2 }
  ],
  default: fallback
});
const x = { name: 'x', variadic: false, optional: false };

function layer(
  type: string,
  category: string,
  summary: string,
  properties: { [key: string]: ParamSchema },
  rule: Rule,
  inputs = [x]
): MockLayer {
  const required = Object.keys(properties).filter(
    key => properties[key].default === undefined
  );
  return {
    schema: {
      type,
      label: type,
      category,
      summary,
      palette: !type.startsWith('ops.'),
      inputs,
      outputs: [{ name: 'output' }],
      schema: { type: 'object', properties, required } as ParamSchema
    },
    rule
  };
}

const same: Rule = ([shape]) => ({ shape });
const times = (shape: Shape): number =>
  shape.reduce<number>((product, size) => product * (size ?? 1), 1);

const conv: Rule = ([shape], params) => {
  if (shape.length !== 4) {
    throw new Error(
      `Conv2d wants 4 axes (N, C, H, W), received (${shape.map(s => s ?? 'None').join(', ')}): add a Reshape before it.`
    );
  }
  if (typeof params.out_channels !== 'number') {
    throw new Error('Conv2d needs out_channels: write how many.');
  }
  const kernel = [params.kernel_size ?? 3].flat() as number[];
  const cut = params.padding === 'same' ? 0 : kernel[0] - 1;
  return {
    shape: [
      shape[0],
      params.out_channels,
      ...shape.slice(2).map(size => (size === null ? null : size - cut))
    ],
    parameters:
      ((shape[1] ?? 1) * kernel[0] * (kernel[1] ?? kernel[0]) + 1) *
      params.out_channels
  };
};

const linear: Rule = ([shape], { out_features }) => {
  if (typeof out_features !== 'number') {
    throw new Error('Linear needs out_features: write how many.');
  }
  return {
    shape: [...shape.slice(0, -1), out_features],
    parameters: ((shape.at(-1) ?? 1) + 1) * out_features
  };
};

const pool: Rule = ([shape]) => ({
  shape: shape.map((size, axis) =>
    axis > 1 && size !== null ? Math.floor(size / 2) : size
  )
});

export const LAYERS: MockLayer[] = [
  layer(
    'Input',
    'input',
    'Where the data comes in.',
    {
      shape: {
        type: 'array',
        items: { type: ['integer', 'null'], minimum: 1 },
        default: [null, 1, 8, 8],
        description: 'Sizes separated by commas; ? for the batch.'
      },
      dtype: { enum: ['float32', 'float16', 'int64'], default: 'float32' }
    },
    (_, params) => ({ shape: (params.shape ?? [null, 1, 8, 8]) as Shape }),
    []
  ),
  layer(
    'Conv2d',
    'convolution',
    'Slides small filters over an image.',
    {
      out_channels: count(),
      kernel_size: sizes(3),
      stride: sizes(1),
      padding: {
        anyOf: [
          { type: 'integer', minimum: 0 },
          { type: 'array', items: { type: 'integer', minimum: 0 } },
          { enum: ['same', 'valid'] }
        ],
        default: 'valid'
      },
      bias: { type: 'boolean', default: true },
      groups: { ...count(), default: 1 }
    },
    conv
  ),
  layer('ReLU', 'activation', 'Sets negative values to zero.', {}, same),
  layer('Sigmoid', 'activation', 'Squeezes values between 0 and 1.', {}, same),
  layer(
    'BatchNorm2d',
    'normalization',
    'Brings each channel to mean 0 and variance 1 over a batch.',
    {
      eps: { type: 'number', exclusiveMinimum: 0, default: 1e-5 },
      momentum: { type: ['number', 'null'], default: 0.1 }
    },
    ([shape]) => ({ shape, parameters: 2 * (shape[1] ?? 1) })
  ),
  layer(
    'MaxPool2d',
    'pooling',
    'Keeps the largest value of each window.',
    { kernel_size: sizes(2) },
    pool
  ),
  layer(
    'Flatten',
    'shape',
    'Makes one axis of all but the first.',
    {},
    ([s]) => ({
      shape: [s[0], times(s.slice(1))]
    })
  ),
  layer(
    'Linear',
    'linear',
    'Multiplies by a matrix and adds a bias.',
    { out_features: count(), bias: { type: 'boolean', default: true } },
    linear
  ),
  layer(
    'Dropout',
    'regularization',
    'Sets random values to zero while training.',
    { p: { type: 'number', minimum: 0, maximum: 1, default: 0.5 } },
    same
  ),
  layer('Add', 'merge', 'Adds tensors of one shape.', {}, same, [
    { ...x, variadic: true }
  ]),
  layer(
    'Concat',
    'merge',
    'Joins tensors along an axis.',
    { axis: { type: 'integer', default: 1 } },
    same,
    [{ ...x, variadic: true }]
  ),
  layer(
    'Attention',
    'attention',
    'Mixes values by how well queries match keys.',
    {
      heads: { ...count(), default: 8 },
      scale: {
        anyOf: [{ enum: ['sqrt', 'none'] }, { type: 'null' }],
        default: null
      }
    },
    ([shape]) => ({ shape, parameters: 4 * (shape.at(-1) ?? 1) ** 2 }),
    [
      { ...x, name: 'query' },
      { ...x, name: 'key' },
      { ...x, name: 'value' },
      { ...x, name: 'mask', optional: true }
    ]
  ),
  layer('ops.mean', 'operator', 'The mean over some axes.', {}, ([s]) => ({
    shape: s.slice(0, 2)
  }))
];

export const RULES = new Map<NodeData['type'], MockLayer>(
  LAYERS.map(each => [each.schema.type, each])
);
