// A made-up data set of pictures, sounds, texts or clips, for the development page.
import type {
  DatasetSummary,
  MediaAnswer,
  PartView,
  PipelineData,
  PreviewAnswer,
  SamplesAnswer,
  SampleView,
  SavedPipeline,
  StatisticsAnswer,
  TransformInfo
} from '../src/api/data';
import type { DataHost, PreviewQuery, SamplesQuery } from '../src/data/host';

const CLASSES = [
  'daisy',
  'dandelion',
  'rose',
  'sunflower',
  'tulip with a long name'
];
const SAMPLES = 10_000;

export class SyntheticData implements DataHost {
  private _asked = 0;

  constructor(private readonly _case: string) {}

  async summary(): Promise<DatasetSummary> {
    const isEmpty = this._case === 'empty';
    return {
      name: 'flowers',
      kind: 'ImageFolder',
      samples: isEmpty ? 0 : SAMPLES,
      classes: isEmpty ? null : CLASSES,
      entries: [
        { name: 'image', kind: 'image', description: '500 × 375, uint8' },
        { name: 'label', kind: 'label', description: 'int64' }
      ],
      pipeline: { steps: [], split: {} },
      pipeline_file: 'flowers.pipeline.json',
      code: 'pictures = data.ImageFolder("flowers")'
    };
  }

  async transforms(): Promise<TransformInfo[]> {
    return TRANSFORMS;
  }

  async samples({ start, count, label }: SamplesQuery): Promise<SamplesAnswer> {
    await pause(60);
    const step = label ? CLASSES.length : 1;
    const first = label ? CLASSES.indexOf(label) : 0;
    const total = SAMPLES / step;
    const length = Math.max(0, Math.min(count, total - start));
    return {
      samples: Array.from({ length }, (_, i) =>
        this._sample(first + (start + i) * step)
      ),
      total
    };
  }

  async statistics(): Promise<StatisticsAnswer> {
    this._asked += 1;
    const read = Math.min(SAMPLES, this._asked * 3000);
    return {
      read,
      samples: SAMPLES,
      complete: read === SAMPLES,
      classes: CLASSES.map((name, i) => ({ name, count: 500 + 430 * i })),
      histograms: ['width', 'height', 'brightness'].map((name, k) => ({
        name,
        unit: k < 2 ? 'px' : '',
        edges: Array.from({ length: 25 }, (_, i) => 100 + i * 40),
        counts: Array.from({ length: 24 }, (_, i) =>
          Math.round(900 * Math.exp(-(((i - 8 - 3 * k) / 4) ** 2)))
        )
      })),
      broken: [
        {
          index: 7,
          name: 'rose/7.jpg',
          problem: 'rose/7.jpg is truncated: 1,204 of 9,000 bytes'
        }
      ]
    };
  }

  async preview({
    index,
    count = 8,
    seed = 0,
    step
  }: PreviewQuery): Promise<PreviewAnswer> {
    await pause(80);
    return {
      original: this._sample(index),
      results: Array.from({ length: count }, (_, i) =>
        this._sample(index, step ? (seed + 1) * 100 + i : 0)
      )
    };
  }

  async media(): Promise<MediaAnswer> {
    return { mime: 'audio/wav', data: '' };
  }

  async save(pipeline: PipelineData): Promise<SavedPipeline> {
    return {
      path: 'flowers.pipeline.json',
      code: `pipeline = data.Pipeline.load("flowers.pipeline.json")  # ${pipeline.steps.length} steps\ntrain, test = pipeline.datasets()\ntrainer.fit(train, validation=test)`,
      input_shape: [null, 3, 224, 224],
      target: '5 classes'
    };
  }

  private _sample(index: number, seed = 0): SampleView {
    const label = CLASSES[index % CLASSES.length];
    const sample = { index, name: `${label}/${index}.jpg`, label };
    return index % 50 === 7
      ? {
          ...sample,
          parts: [],
          problem: `${index}.jpg is truncated: 1,204 of 9,000 bytes`
        }
      : { ...sample, parts: this._parts(index, seed) };
  }

  private _parts(index: number, seed: number): PartView[] {
    const label: PartView = {
      name: 'label',
      kind: 'values',
      description: 'int64',
      text: String(index % 5)
    };
    if (this._case === 'sounds') {
      const waveform = Array.from({ length: 120 }, (_, i): [number, number] => {
        const loud = Math.abs(Math.sin(i / 9 + index) * Math.cos(i / 31)) * 0.9;
        return [-loud, loud * 0.8];
      });
      return [
        {
          name: 'audio',
          kind: 'audio',
          description: '16 kHz, 1.2 s',
          seconds: 1.2,
          waveform,
          picture: draw(index, 80, 40, seed)
        },
        label
      ];
    }
    if (this._case === 'texts') {
      const tokens =
        'The quick brown fox jump ##s over the lazy dog , and a long sentence follow ##s it .'.split(
          ' '
        );
      return [
        {
          name: 'text',
          kind: 'text',
          description: `${tokens.length} tokens`,
          tokens
        },
        label
      ];
    }
    const [width, height] = index % 3 ? [500, 375] : [300, 400];
    const boxes = [
      {
        left: 0.2,
        top: 0.25,
        width: 0.4,
        height: 0.5,
        label: CLASSES[index % 5]
      },
      {
        left: 0.5,
        top: 0.05,
        width: 0.4,
        height: 0.3,
        label: CLASSES[(index + 1) % 5]
      }
    ];
    return [
      {
        name: 'image',
        kind: this._case === 'clips' ? 'video' : 'image',
        description: `${width} × ${height}, uint8`,
        width,
        height,
        picture: draw(index, width / 4, height / 4, seed),
        ...(index % 2 && { boxes }),
        ...(index % 4 === 0 && {
          points: [
            [0.3, 0.4],
            [0.6, 0.5],
            [0.45, 0.7]
          ] as [number, number][]
        })
      },
      label
    ];
  }
}

const pause = (time: number) =>
  new Promise(resolve => setTimeout(resolve, time));

function draw(
  index: number,
  width: number,
  height: number,
  seed: number
): string {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext('2d');
  if (pen) {
    pen.fillStyle = `hsl(${(index * 47 + seed * 13) % 360} 40% 45%)`;
    pen.fillRect(0, 0, width, height);
    pen.fillStyle = `hsl(${(index * 91) % 360} 70% 70%)`;
    pen.beginPath();
    pen.arc(
      width / 2 + Math.sin(seed) * 9,
      height / 2 + Math.cos(seed) * 9,
      height / 3,
      0,
      7
    );
    pen.fill();
  }
  return canvas.toDataURL('image/jpeg');
}

const transform = (
  name: string,
  category: string,
  summary: string,
  properties: TransformInfo['schema']['properties'] = {},
  initial?: TransformInfo['initial']
): TransformInfo => ({
  name,
  category,
  summary,
  description: `${summary}\n\nMore about it, in a second paragraph.`,
  kinds: category === 'Sound' ? ['audio'] : ['image', 'boxes', 'mask'],
  random: name.startsWith('Random'),
  schema: { properties },
  initial
});

const TRANSFORMS: TransformInfo[] = [
  transform(
    'Resize',
    'Geometry',
    'Resize to a height and width.',
    {
      size: {
        title: 'size',
        anyOf: [
          { type: 'integer', minimum: 1 },
          { type: 'array', items: { type: 'integer' } }
        ]
      },
      interpolation: {
        title: 'interpolation',
        enum: ['nearest', 'bilinear', 'bicubic'],
        default: 'bilinear'
      },
      antialias: { title: 'antialias', type: 'boolean', default: true }
    },
    { size: 224 }
  ),
  transform(
    'RandomCrop',
    'Geometry',
    'Cut out a part at a random place.',
    { size: { title: 'size', type: 'integer', minimum: 1 } },
    { size: 224 }
  ),
  transform(
    'RandomHorizontalFlip',
    'Geometry',
    'Mirror left and right with a probability.',
    { p: { title: 'p', type: 'number', minimum: 0, maximum: 1, default: 0.5 } }
  ),
  transform(
    'RandomColorJitter',
    'Color',
    'Change brightness, contrast, saturation and hue at random.',
    {
      brightness: {
        title: 'brightness',
        type: 'number',
        minimum: 0,
        default: 0.2
      },
      contrast: { title: 'contrast', type: 'number', minimum: 0, default: 0.2 }
    }
  ),
  transform(
    'Normalize',
    'Values',
    'Subtract the mean and divide by the standard deviation.',
    {
      mean: {
        title: 'mean',
        type: 'array',
        items: { type: 'number' },
        default: [0.485, 0.456, 0.406]
      }
    }
  ),
  transform('ToFloat', 'Values', 'Bytes 0 to 255 as floats 0 to 1.'),
  transform('MelSpectrogram', 'Sound', 'Power in mel bands over time.')
];
