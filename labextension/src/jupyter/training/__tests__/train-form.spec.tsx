// The Train panel's form: defaults, messages and validation.

import {
  fireEvent,
  render,
  screen,
  waitFor,
  within
} from '@testing-library/react';

import { plainTranslator } from '../../../editor';
import { TrainForm, TrainFormProps } from '../train-form';
import { adaptTask, adaptToModel, draftOf, settingsOf } from '../train-draft';
import {
  fits,
  isDataFile,
  TrainingChoices,
  TrainingCode
} from '../training-settings';

jest.mock('@jupyterlab/ui-components', () => {
  const icon = { react: () => null };
  return { caretDownIcon: icon, caretRightIcon: icon, closeIcon: icon };
});

const NUMBER = { type: 'number', default: 0, title: 'Weight Decay' };
const NOTHING = { type: 'object', properties: {} };
const CHOICES: TrainingChoices = {
  datasets: [
    {
      name: 'digits',
      summary: 'Images',
      kind: 'classes',
      input_shape: [null, 1, 8, 8],
      classes: 10,
      samples: 1797
    },
    {
      name: 'diabetes',
      summary: 'Patients',
      kind: 'numbers',
      input_shape: [null, 10],
      classes: null,
      samples: 442
    }
  ],
  backends: [
    { name: 'torch', version: '2', problem: null },
    { name: 'paddle', version: null, problem: 'not installed' }
  ],
  losses: [
    { name: 'cross_entropy', summary: '', kind: 'classes', schema: NOTHING },
    { name: 'huber', summary: '', kind: 'numbers', schema: NOTHING },
    { name: 'dice', summary: '', kind: null, schema: NOTHING }
  ],
  metrics: [
    {
      name: 'accuracy',
      summary: 'Share',
      kind: 'classes',
      higher_is_better: true
    },
    { name: 'f1', summary: 'Mean', kind: 'classes' },
    { name: 'r2', summary: 'Variance', kind: 'numbers' }
  ],
  optimizers: [
    {
      name: 'adam',
      summary: 'The usual choice.',
      schema: { type: 'object', properties: { weight_decay: NUMBER } }
    },
    { name: 'sgd', summary: '', schema: NOTHING }
  ],
  schedules: [{ name: 'cosine_decay', summary: 'A wave.', schema: NOTHING }],
  stopping: {
    type: 'object',
    properties: {
      monitor: { type: 'string', default: 'val_loss', title: 'Monitor' }
    }
  },
  options: NOTHING,
  tasks: [
    {
      name: 'image segmentation',
      summary: 'Segmentation.',
      loss: 'cross_entropy',
      loss_settings: { axis: 1 },
      metrics: ['mean_iou']
    },
    {
      name: 'object detection',
      summary: 'Detection.',
      loss: null,
      loss_settings: {},
      metrics: ['mean_average_precision']
    }
  ],
  first: {
    classes: { loss: 'cross_entropy', metrics: ['accuracy'] },
    numbers: { loss: 'huber', metrics: ['r2'] }
  },
  defaults: {
    backend: null,
    dataset: 'digits',
    loss: 'cross_entropy',
    metrics: ['accuracy'],
    optimizer: 'adam',
    learning_rate: 0.001,
    epochs: 20,
    batch_size: 32,
    seed: 0,
    parameters: 'new'
  }
};
const ANSWER: TrainingCode = {
  code: 'code',
  run: 'runs/1',
  inputs: [[null, 10]],
  outputs: [[null, 1]],
  problems: [],
  has_parameters: false
};

function form(props: Partial<TrainFormProps> = {}) {
  const onChange = jest.fn();
  const onTrain = jest.fn();
  render(
    <TrainForm
      choices={CHOICES}
      settings={null}
      preview={ANSWER}
      file={null}
      problem={null}
      busy={false}
      action="Train"
      trans={plainTranslator}
      onChange={onChange}
      onTrain={onTrain}
      {...props}
    />
  );
  return { onChange, onTrain, last: () => onChange.mock.lastCall?.[0] };
}

function choose(label: string, value: string) {
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
}

/** Settings of a new form. */
function draftSettings() {
  const settings = settingsOf(draftOf(CHOICES, null), plainTranslator);
  if (typeof settings === 'string') {
    throw new Error(settings);
  }
  return settings;
}

test('it begins with what is usual, and tells it', () => {
  const { last } = form();
  expect(last()).toMatchObject({
    backend: 'torch',
    dataset: 'digits',
    loss: 'cross_entropy',
    metrics: ['accuracy'],
    epochs: 20,
    stopping: null,
    parameters: 'new'
  });
  const paddle = screen.getByRole('option', { name: 'paddle: not installed' });
  expect(paddle).toHaveProperty('disabled', true);
});

const OF_FOLDER: TrainingCode = {
  ...ANSWER,
  tasks: ['image segmentation', 'object detection'],
  needs_task: true,
  transforms: ['Resize', 'Normalize']
};

test('a task brings its loss, metrics and transforms', () => {
  const { last } = form({
    preview: OF_FOLDER,
    settings: { ...draftSettings(), dataset: 'pets/' }
  });
  // the first that fits is chosen where the data set needs one
  expect(last()).toMatchObject({
    task: 'image segmentation',
    loss: 'cross_entropy',
    loss_settings: { axis: 1 },
    metrics: ['mean_iou']
  });
  expect(
    screen.getByText('Segmentation. Transforms: Resize, Normalize.')
  ).toBeTruthy();
  choose('Size of samples', '64');
  expect(last().size).toBe(64);
  choose('Size of samples', 'large');
  expect(last()).toBeNull();
  choose('Size of samples', '');
  choose('Task', 'object detection');
  expect(last()).toMatchObject({
    task: 'object detection',
    size: null,
    metrics: ['mean_average_precision']
  });
  expect(screen.getByLabelText('Loss')).toHaveProperty('disabled', true);
  choose('Data set', 'digits'); // its samples are arrays
  expect(last()).toMatchObject({ task: null, metrics: ['accuracy'] });
});

test('the reason why no task fits is a sentence', () => {
  form({ preview: { ...ANSWER, tasks: [], tasks_problem: 'No task fits.' } });
  expect(screen.getByText('No task fits.')).toBeTruthy();
  expect(screen.getByLabelText('Task')).toHaveProperty('disabled', true);
});

test('a task that no longer fits gives way', () => {
  const draft = { ...draftOf(CHOICES, null), task: 'image segmentation' };
  const none = { tasks: [], needs_task: false };
  expect(adaptTask(draft, CHOICES, none).task).toBeNull();
  const other = { tasks: ['object detection'], needs_task: true };
  expect(adaptTask(draft, CHOICES, other).task).toBe('object detection');
  const optional = { tasks: ['object detection'], needs_task: false };
  expect(adaptTask(draft, CHOICES, optional).task).toBeNull();
});

test('data sets that go into the model stand first', () => {
  form();
  const groups = within(screen.getByLabelText('Data set')).getAllByRole(
    'group'
  );
  expect(groups.map(group => group.textContent)).toEqual([
    'diabetes',
    'digits'
  ]);
});

test('other data bring the loss and the metrics for them, unless they fit already', () => {
  const { last } = form();
  choose('Data set', 'diabetes');
  expect(last()).toMatchObject({ loss: 'huber', metrics: ['r2'] });
  choose('Loss', 'dice');
  choose('Data set', 'digits');
  expect(last()).toMatchObject({ loss: 'dice', metrics: ['r2'] });
});

test('a setting of the optimizer, and none of another one', () => {
  const { last } = form();
  fireEvent.click(screen.getByRole('button', { name: 'More settings' }));
  choose('Weight Decay', '0.1');
  expect(last().optimizer_settings).toEqual({ weight_decay: 0.1 });
  choose('Weight Decay', '0');
  expect(last().optimizer_settings).toEqual({}); // equals the default
  choose('Weight Decay', '0.2');
  choose('Optimizer', 'sgd');
  expect(last().optimizer_settings).toEqual({});
});

test('text that is no number is not trained with', () => {
  const { last, onTrain } = form();
  fireEvent.click(screen.getByRole('button', { name: 'More settings' }));
  choose('Weight Decay', 'lots');
  expect(last().optimizer_settings).toEqual({});
  fireEvent.submit(screen.getByRole('form'));
  expect(onTrain).not.toHaveBeenCalled();
  expect(document.activeElement).toBe(screen.getByLabelText('Weight Decay'));
  choose('Weight Decay', '1');
  choose('Epochs', '1.5');
  expect(last()).toBeNull();
  expect(screen.getByRole('button', { name: 'Train' })).toHaveProperty(
    'disabled',
    true
  );
  expect(
    screen.getByText(/number of epochs must be a positive integer/)
  ).toBeTruthy();
  choose('Epochs', '2');
  fireEvent.submit(screen.getByRole('form'));
  expect(onTrain).toHaveBeenCalledWith(last());
});

test('metrics are ticked in a list and taken off as chips', () => {
  const { last } = form();
  fireEvent.click(screen.getByRole('button', { name: 'Choose…' }));
  const boxes = screen.getAllByRole('checkbox');
  expect(boxes).toHaveLength(3);
  expect(document.activeElement).toBe(boxes[0]);
  fireEvent.keyDown(boxes[0], { key: 'ArrowDown' });
  expect(document.activeElement).toBe(boxes[1]);
  fireEvent.click(boxes[1]);
  expect(last().metrics).toEqual(['accuracy', 'f1']);
  fireEvent.keyDown(boxes[1], { key: 'Escape' });
  expect(screen.queryByRole('checkbox')).toBeNull();
  expect(document.activeElement?.textContent).toBe('Choose…');
  fireEvent.click(screen.getByRole('button', { name: 'Remove accuracy' }));
  expect(last().metrics).toEqual(['f1']);
});

test('an early end waits for a figure that there is', () => {
  const { last } = form();
  fireEvent.click(screen.getByRole('button', { name: 'More settings' }));
  fireEvent.click(
    screen.getByLabelText('Stop when a metric no longer improves')
  );
  expect(last().stopping).toEqual({});
  const monitor = screen.getByLabelText('Monitor');
  expect(
    within(monitor)
      .getAllByRole('option')
      .map(option => option.textContent)
  ).toEqual(['val_loss', 'val_accuracy', 'loss', 'accuracy']);
  screen.getByText('val_loss: lower is better');
  fireEvent.change(monitor, { target: { value: '1' } });
  expect(last().stopping).toEqual({ monitor: 'val_accuracy' });
  screen.getByText('val_accuracy: higher is better');
});

test('what does not fit is said, and keeps from training', () => {
  form({ preview: { ...ANSWER, problems: ['It does not fit.'] } });
  expect(screen.getByRole('alert').textContent).toBe('It does not fit.');
  expect(screen.getByRole('button', { name: 'Train' })).toHaveProperty(
    'disabled',
    true
  );
});

test('saved parameters can be chosen where there are some', () => {
  form();
  const option = () => screen.getByRole('option', { name: 'Saved parameters' });
  expect(option()).toHaveProperty('disabled', true);
});

test('a file is asked for, and its kind decides', async () => {
  const file = {
    name: 'points.csv',
    summary: '60 samples',
    kind: 'numbers' as const,
    columns: ['a', 'b'],
    target: 'b',
    input_shape: [null, 1]
  };
  const pickFile = jest.fn().mockResolvedValue('data/points.csv');
  const { last } = form({ pickFile, file });
  fireEvent.click(screen.getByRole('button', { name: 'File…' }));
  await screen.findByText('60 samples');
  await waitFor(() => expect(last().loss).toBe('huber'));
  expect(last()).toMatchObject({ dataset: 'data/points.csv', target: null });
  choose('Target', 'a');
  expect(last().target).toBe('a');
});

test('what was remembered may be from other times', () => {
  const old = { backend: 'torch', metrics: ['accuracy', 'gone'] } as never;
  const draft = draftOf(CHOICES, old);
  expect(draft.metrics).toEqual(['accuracy']);
  expect(settingsOf(draft, plainTranslator)).toMatchObject({ scale: true });
  const lost = draftOf(CHOICES, { loss: 'gone', optimizer: 'gone' } as never);
  expect([lost.loss, lost.optimizer]).toEqual(['cross_entropy', 'adam']);
  expect(adaptToModel(draft, CHOICES, null)).toBe(draft);
});

test('shapes that fit, and names of files', () => {
  expect(fits([null, 4], [null, 4])).toBe(true);
  expect(fits([null, 4], [null, null])).toBe(true);
  expect(fits([null, 4], [null, 3])).toBe(false);
  expect(fits([null, 4, 4], [null, 4])).toBe(false);
  expect(fits(null, [null, 4])).toBe(true);
  expect(isDataFile('a/b.npz')).toBe(true);
  expect(isDataFile('digits')).toBe(false);
});

test('a data set that another view has chosen is taken, and read as a file', () => {
  const chosen = { dataset: 'flowers.pipeline.json' };
  const { last } = form({ chosen });
  expect(last()).toMatchObject({ dataset: 'flowers.pipeline.json' });
  expect(screen.getByLabelText('Data set')).toHaveProperty(
    'value',
    'flowers.pipeline.json'
  );
});

test('one button gives the model’s input the shape of the samples', () => {
  const setInputShape = jest.fn();
  form({ setInputShape });
  fireEvent.click(
    screen.getByRole('button', { name: 'Set the model’s input to 1 × 8 × 8' })
  );
  expect(setInputShape).toHaveBeenCalledWith([null, 1, 8, 8]);
  choose('Data set', 'diabetes');
  expect(screen.queryByRole('button', { name: /Set the model/ })).toBeNull();
});

test('there is no such button where the input cannot be set', () => {
  form({ setInputShape: null });
  expect(screen.queryByRole('button', { name: /Set the model/ })).toBeNull();
});
