// Code of a training before it starts: requested after a pause of the typing, run as shown.

import { TrainingPreview } from '../training-preview';
import type { TrainingSettings } from '../training-settings';

const SETTINGS = {
  backend: 'torch',
  dataset: 'digits',
  target: null
} as TrainingSettings;
const other = (dataset: string): TrainingSettings => ({ ...SETTINGS, dataset });

function preview() {
  let runs = 0;
  const trainingCode = jest.fn(
    async (_path: string, { dataset }: TrainingSettings, graph: unknown) => {
      if (dataset === 'wrong') {
        throw new Error('dataset wants one of digits');
      }
      return { code: `${dataset} ${graph}`, run: `runs/${++runs}` };
    }
  );
  const dataFile = jest.fn(async (_path: string, name: string) => ({ name }));
  const listeners: (() => void)[] = [];
  const document = {
    snapshot: () => 'graph',
    subscribe: (listener: () => void) => listeners.push(listener)
  };
  const edit = () => listeners.forEach(listener => listener());
  const made = new TrainingPreview({
    api: { trainingCode, dataFile } as never,
    path: () => 'a.labdl',
    graph: () => document as never
  });
  return { made, trainingCode, dataFile, edit };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const rest = () => jest.advanceTimersByTimeAsync(1000);

test('the server is asked once, when the form rests', async () => {
  const { made, trainingCode } = preview();
  made.show(other('a'));
  made.show(other('b'));
  made.show(other('c'));
  made.show(other('c'));
  await rest();
  expect(trainingCode.mock.calls).toEqual([['a.labdl', other('c'), 'graph']]);
  expect(made.answer?.code).toBe('c graph');
});

test('what was edited is asked for again', async () => {
  const { made, trainingCode, edit } = preview();
  made.show(SETTINGS);
  await rest();
  edit();
  edit();
  await rest();
  expect(trainingCode).toHaveBeenCalledTimes(2);
});

test('what is shown is what is run, and no name is used twice', async () => {
  const { made, trainingCode } = preview();
  made.show(SETTINGS);
  await rest();
  const shown = made.answer;
  expect(await made.take(SETTINGS)).toBe(shown);
  expect(trainingCode).toHaveBeenCalledTimes(1);
  expect((await made.take(SETTINGS)).run).not.toBe(shown?.run);
});

test('a change that has not been answered is asked for before it is run', async () => {
  const { made } = preview();
  made.show(other('a'));
  await rest();
  made.show(other('b'));
  expect((await made.take(other('b'))).code).toBe('b graph');
});

test('a sentence takes the place of code, and stops a run', async () => {
  const { made } = preview();
  made.show(other('wrong'));
  await rest();
  expect(made.problem).toBe('dataset wants one of digits');
  await expect(made.take(other('wrong'))).rejects.toThrow('dataset wants');
  made.show(SETTINGS);
  await rest();
  expect(made.problem).toBeNull();
});

test('a file is looked into', async () => {
  const { made, dataFile } = preview();
  made.show(other('data/x.csv'));
  await rest();
  expect(dataFile).toHaveBeenCalledWith(
    'a.labdl',
    'data/x.csv',
    expect.objectContaining({ target: null })
  );
  expect(made.file).toEqual({ name: 'data/x.csv' });
  made.show(SETTINGS);
  await rest();
  expect(made.file).toBeNull();
});

test('the columns of a file are known although there is no code', async () => {
  const { made, trainingCode } = preview();
  trainingCode.mockRejectedValueOnce(new Error('choose the target'));
  made.show(other('data/x.csv'));
  await rest();
  expect(made.problem).toBe('choose the target');
  expect(made.file).toEqual({ name: 'data/x.csv' });
});

test('the columns of a file stay while it cannot be read', async () => {
  const { made, dataFile } = preview();
  made.show(other('data/x.csv'));
  await rest();
  dataFile.mockRejectedValueOnce(new Error('no such column'));
  made.show({ ...other('data/x.csv'), target: 'z' });
  await rest();
  expect(made.problem).toBe('no such column');
  expect(made.file).toEqual({ name: 'data/x.csv' });
});

/** Lets the next request wait for the returned function, which gives its answer. */
function delayAnswer({ trainingCode }: ReturnType<typeof preview>) {
  let resolveAnswer: (code: unknown) => void = () => undefined;
  trainingCode.mockImplementationOnce(
    () => new Promise(resolve => (resolveAnswer = resolve as never))
  );
  return (code: unknown) => resolveAnswer(code);
}

test('an answer that comes late changes nothing', async () => {
  const tested = preview();
  const { made } = tested;
  const answerFirst = delayAnswer(tested);
  made.show(other('slow'));
  await rest();
  made.show(SETTINGS);
  const taken = await made.take(SETTINGS);
  answerFirst({ code: 'slow', run: 'late' });
  await rest();
  expect(made.answer).toBe(taken);
});

test('an answer to older settings is not run', async () => {
  const tested = preview();
  const { made } = tested;
  const answer = delayAnswer(tested);
  made.show(other('a'));
  await rest(); // the server is slow
  made.show(other('b'));
  answer({ code: 'a graph', run: 'runs/a' });
  await jest.advanceTimersByTimeAsync(0);
  expect((await made.take(other('b'))).code).toBe('b graph');
});

test('an edit while the code is requested does not stop the run', async () => {
  const { made, edit } = preview();
  made.show(SETTINGS);
  const code = made.take(SETTINGS);
  edit();
  expect((await code).code).toBe('digits graph');
});

test('after its panel is closed nothing is asked', async () => {
  const { made, trainingCode } = preview();
  made.dispose();
  made.show(SETTINGS);
  made.refresh();
  await rest();
  expect(trainingCode).not.toHaveBeenCalled();
});
