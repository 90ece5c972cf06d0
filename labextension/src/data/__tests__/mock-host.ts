// A data set of numbered samples, of which each request is noted.

import type {
  DatasetSummary,
  MediaAnswer,
  PipelineData,
  PreviewAnswer,
  SamplesAnswer,
  SampleView,
  SavedPipeline,
  StatisticsAnswer,
  TransformInfo
} from '../../api/data';
import type {
  ChosenModel,
  DataHost,
  MediaQuery,
  PreviewQuery,
  SamplesQuery
} from '../host';

export const CLASSES = ['cat', 'dog'];

export function sample(index: number): SampleView {
  const label = CLASSES[index % 2];
  return {
    index,
    name: `${label}/${index}.png`,
    label,
    parts: [
      {
        name: 'image',
        kind: 'image',
        description: '4 × 4 uint8',
        width: 4,
        height: 4,
        picture: `data:image/png;base64,${index}`,
        boxes: [{ left: 0, top: 0.2, width: 0.5, height: 0.5, label }]
      }
    ]
  };
}

export class MockHost implements DataHost {
  previews: PreviewQuery[] = [];
  saved: PipelineData[] = [];
  played: MediaQuery[] = [];
  kept: (PipelineData | null)[] = [];
  reads = [40, 100];
  summaryOf: Partial<DatasetSummary> = {};
  previewOf: Partial<PreviewAnswer['original']> = {};
  model: ChosenModel | null | undefined = undefined;
  /** Hosts of the other parts. */
  splits = new Map<string, MockHost>();

  async summary(): Promise<DatasetSummary> {
    return {
      name: 'pets',
      kind: 'ImageFolder',
      samples: 100,
      classes: CLASSES,
      entries: [{ name: 'image', kind: 'image', description: '4 × 4 uint8' }],
      pipeline: { steps: [], split: {} },
      pipeline_file: 'pets.pipeline.json',
      code: 'data.ImageFolder("pets")',
      ...this.summaryOf
    };
  }

  async transforms(): Promise<TransformInfo[]> {
    return TRANSFORMS;
  }

  async samples({ start, count }: SamplesQuery): Promise<SamplesAnswer> {
    return {
      samples: Array.from({ length: count }, (_, i) => sample(start + i)),
      total: 100
    };
  }

  async statistics(): Promise<StatisticsAnswer> {
    const read = this.reads.shift() ?? 100;
    return {
      read,
      samples: 100,
      complete: read === 100,
      classes: [
        { name: 'cat', count: 75 },
        { name: 'dog', count: 25 }
      ],
      histograms: [
        { name: 'width', unit: 'px', edges: [0, 10, 20], counts: [30, 70] }
      ],
      broken: [
        {
          index: 3,
          name: 'dog/3.png',
          problem: 'it is empty',
          path: 'pets/dog/3.png'
        }
      ],
      broken_count: 101
    };
  }

  async preview(query: PreviewQuery): Promise<PreviewAnswer> {
    this.previews.push(query);
    return {
      original: { ...sample(query.index), ...this.previewOf },
      results: Array.from({ length: query.count ?? 8 }, (_, i) =>
        sample(1000 * (query.seed ?? 0) + 10 * query.step + i)
      )
    };
  }

  async media(query: MediaQuery): Promise<MediaAnswer> {
    this.played.push(query);
    return { mime: 'audio/wav', data: btoa('RIFF') };
  }

  async save(pipeline: PipelineData): Promise<SavedPipeline> {
    this.saved.push(pipeline);
    return {
      path: 'pets.pipeline.json',
      code: 'trainer.fit(pets)',
      input_shape: [null, 3, 32, 32],
      target: '2 classes'
    };
  }

  ofSplit(split: string): DataHost {
    return this.splits.get(split) ?? this;
  }

  keepDraft(pipeline: PipelineData | null): void {
    this.kept.push(pipeline);
  }
}

const of = (
  name: string,
  category: string,
  kinds: string[],
  more: Partial<TransformInfo> = {}
): TransformInfo => ({
  name,
  category,
  summary: `What ${name} does.`,
  description: `What ${name} does.`,
  kinds,
  random: false,
  schema: { properties: {} },
  ...more
});

export const TRANSFORMS = [
  of('ResizeWithPad', 'image.resize', ['image']),
  of('Resize', 'image.resize', ['image', 'mask'], {
    schema: {
      properties: {
        size: { title: 'Size', type: 'integer', minimum: 1 },
        antialias: { title: 'Antialias', type: 'boolean', default: true }
      }
    },
    initial: { size: 32 }
  }),
  of('HorizontalFlip', 'image.flip', ['image'], { random: true }),
  of('MelSpectrogram', 'audio.mel', ['audio']),
  of('Compose', 'general.compose', [])
];
