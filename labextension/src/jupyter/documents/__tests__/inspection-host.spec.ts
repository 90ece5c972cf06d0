// Inspection of a document: the server provides code, and a kernel runs it.

import { EMPTY_GRAPH } from '../../../editor/model/graph-data';
import { LabDLApi } from '../../requests';
import { connectKernel, execute } from '../../training/kernel';
import { documentHost, DocumentHostOptions } from '../inspection-host';

jest.mock('@jupyterlab/apputils', () => ({ MainAreaWidget: class {} }));
jest.mock('../../training/kernel', () => ({
  connectKernel: jest.fn(),
  execute: jest.fn()
}));
jest.mock('../../training/train-panel', () => ({ TrainPanel: class {} }));

const MIME = 'application/vnd.labdl.activations+json';
const ANSWER = { nodes: {}, backend: 'torch', dataset: null, index: null };

function opened() {
  const api = new LabDLApi({} as never);
  jest.spyOn(api, 'layers').mockResolvedValue([]);
  const parameters = jest.spyOn(api, 'parameters').mockResolvedValue({
    source: 'file',
    file: null,
    saved: null,
    parameters: [],
    left_out: 0
  });
  const sampleCode = jest
    .spyOn(api, 'sampleCode')
    .mockResolvedValue({ code: 'code', backend: 'torch' });
  const session = { kernel: {}, dispose: jest.fn() };
  jest.mocked(connectKernel).mockResolvedValue(session as never);
  const host = documentHost({
    api,
    services: {},
    contents: { localPath: (path: string) => path.replace('RTC:', '') },
    path: () => 'RTC:nets/a.labdl',
    shell: { widgets: () => [] },
    trans: { __: (text: string) => text }
  } as unknown as DocumentHostOptions);
  return { host, parameters, sampleCode, session };
}

test('the document’s own parameters are asked for, and the rest of the server', async () => {
  const { host, parameters } = opened();
  await host.weights?.(['conv', 'head'], EMPTY_GRAPH);
  expect(parameters).toHaveBeenCalledWith('nets/a.labdl', ['conv', 'head']);
  expect(await host.layers()).toEqual([]);
});

test('a sample runs in the kernel of the document and the backend', async () => {
  const { host, sampleCode, session } = opened();
  jest.mocked(execute).mockImplementation((_kernel, _code, show) => {
    show?.({ 'text/plain': 'a warning' });
    show?.({ [MIME]: ANSWER });
    return Promise.resolve(null);
  });
  expect(await host.sample?.(EMPTY_GRAPH)).toEqual(ANSWER);
  expect(sampleCode).toHaveBeenCalledWith('nets/a.labdl', EMPTY_GRAPH, null);
  expect(connectKernel).toHaveBeenCalledWith({}, 'RTC:nets/a.labdl', 'torch');
  expect(execute).toHaveBeenCalledWith(
    session.kernel,
    'code',
    expect.anything()
  );
  expect(session.dispose).toHaveBeenCalled();
});

test('what goes wrong in the kernel is told', async () => {
  const { host, session } = opened();
  jest
    .mocked(execute)
    .mockResolvedValue({ message: 'ModelError: no', traceback: '' });
  await expect(host.sample?.(EMPTY_GRAPH)).rejects.toThrow('ModelError: no');
  jest.mocked(execute).mockResolvedValue(null);
  await expect(host.sample?.(EMPTY_GRAPH)).rejects.toThrow(/did not answer/);
  session.kernel = null as never;
  await expect(host.sample?.(EMPTY_GRAPH)).rejects.toThrow(/be started/);
  expect(session.dispose).toHaveBeenCalledTimes(3);
});
