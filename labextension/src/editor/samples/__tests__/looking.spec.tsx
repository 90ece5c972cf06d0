// Tests of internals: the selected layer's parameters, and the activations of one sample.
import { act, fireEvent, render, screen, within } from '@testing-library/react';
import * as Y from 'yjs';

import { formatSignificant, formatPercent } from '../../../ui/number-format';
import { Histogram } from '../../../runs/charts/Histogram';
import { Activation } from '../Activation';
import { ActivationButtons } from '../ActivationButtons';
import { CheckStore } from '../../model/check-store';
import { OWN_SHORTCUTS } from '../../commands/key-bindings';
import { EditorContext, EditorContextProvider } from '../../context';
import { GraphDocument } from '../../model/document';
import { HealthWatch } from '../../health/health-watch';
import { EditorHost } from '../../host';
import { LayerInternals } from '../../inspector/LayerInternals';
import {
  Activation as Values,
  ParameterStats,
  SampleAnswer,
  WeightsAnswer
} from '../inspection-data';
import { NOBODY } from '../../model/collaborators';
import { SampleRun } from '../sample-run';
import { plainTranslator as trans } from '../../../ui/translator';

class Pixels {
  readonly data: number[];
  constructor(width: number, height: number) {
    this.data = Array(width * height * 4).fill(0);
  }
}
Object.assign(globalThis, { ImageData: Pixels });

const VALUES: Values = {
  shape: [2, 3],
  dtype: 'float32',
  size: 6,
  counted: 6,
  mean: 0.25,
  std: 1.5,
  min: -1,
  max: 2,
  zeros: 0.5,
  not_finite: 0,
  histogram: { low: -1, high: 2, counts: [1, 4, 1] },
  picture: null
};
const kernel = (name = 'a/kernel:0'): ParameterStats => ({ ...VALUES, name });
const weights = (more: Partial<WeightsAnswer> = {}): WeightsAnswer => ({
  source: 'file',
  file: 'net.npz',
  saved: 1_700_000_000,
  parameters: [kernel()],
  left_out: 0,
  ...more
});
const sampled = (nodes: SampleAnswer['nodes']): SampleAnswer => ({
  nodes,
  backend: 'torch',
  dataset: 'digits',
  index: 7,
  weights: 'file',
  file: 'net.npz'
});

/** A promise that the test resolves. */
function promised<T>() {
  let keep: (value: T) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((resolve, reject) => {
    keep = resolve;
    fail = reject;
  });
  return { promise, keep, fail };
}

function surroundings(host: Partial<EditorHost>) {
  const document = new GraphDocument(new Y.Doc());
  const a = document.addNode({ type: 'Linear', position: [0, 0] });
  const b = document.addNode({ type: 'Linear', position: [0, 99] });
  const checks = new CheckStore();
  const costs = { parameters: 6, operations: 0, memory: 0 };
  const node = { ...costs, outputs: {}, problem: null };
  checks.answer({ ...costs, nodes: { [a]: node, [b]: node }, problems: [] });
  const said: string[] = [];
  const full = host as EditorHost;
  const sample = new SampleRun(document, full, text => said.push(text), trans);
  sample.start();
  const context: EditorContext = {
    trans,
    checks,
    host: full,
    sample,
    health: new HealthWatch(document, full),
    people: NOBODY,
    shortcuts: OWN_SHORTCUTS,
    closed: new Set(),
    hueOf: () => undefined
  };
  const show = (content: React.ReactNode) => (
    <EditorContextProvider value={context}>{content}</EditorContextProvider>
  );
  return { document, a, b, said, sample, show };
}

const settle = () => act(async () => undefined);

describe('the parameters of a layer', () => {
  it('are shown in figures', async () => {
    const parameters = [
      kernel('linear/kernel:0'),
      { ...kernel('linear/bias:0'), not_finite: 2, size: 1e6, counted: 1000 }
    ];
    const host = {
      weights: jest.fn(() =>
        Promise.resolve(weights({ parameters, left_out: 3 }))
      )
    };
    const { document, a, show } = surroundings(host);
    const graph = document.snapshot();
    render(show(<LayerInternals id={a} owner={a} graph={graph} />));
    await settle();
    expect(host.weights).toHaveBeenCalledWith(['linear'], graph);
    expect(screen.getByText('kernel:0')).toBeTruthy();
    expect(screen.getAllByText('50 %')).toHaveLength(2);
    expect(
      screen.getByText('sample of 1,000 of 1,000,000 values')
    ).toBeTruthy();
    expect(screen.getByText('and 3 more parameters')).toBeTruthy();
    const wrong = window.document.querySelectorAll('.labdl-mod-problem');
    expect(wrong).toHaveLength(1);
    expect(wrong[0].textContent).toBe('Not finite2');
    expect(screen.getByText(/^From net.npz, saved /)).toBeTruthy();
  });

  it('are not those of the layer that was selected before', async () => {
    const first = promised<WeightsAnswer>();
    const second = promised<WeightsAnswer>();
    const host = {
      weights: jest
        .fn()
        .mockReturnValueOnce(first.promise)
        .mockReturnValueOnce(second.promise)
    };
    const { document, a, b, show } = surroundings(host);
    const graph = document.snapshot();
    const view = render(
      show(<LayerInternals key={a} id={a} owner={a} graph={graph} />)
    );
    view.rerender(
      show(<LayerInternals key={b} id={b} owner={b} graph={graph} />)
    );
    second.keep(weights({ parameters: [kernel('second')] }));
    await settle();
    first.keep(weights({ parameters: [kernel('first')] }));
    await settle();
    expect(screen.getByText('second')).toBeTruthy();
    expect(screen.queryByText('first')).toBeNull();
  });

  it('are those of the layer that is shared, and of ties', async () => {
    const host = { weights: jest.fn(() => Promise.resolve(weights())) };
    const { document, a, b, show } = surroundings(host);
    const graph = {
      ...document.snapshot(),
      ties: { 'linear/kernel:0': 'embedding/kernel:0', 'other/x:0': 'y:0' }
    };
    render(show(<LayerInternals id={b} owner={a} graph={graph} />));
    await settle();
    expect(host.weights).toHaveBeenCalledWith(
      ['linear', 'embedding/kernel:0'],
      graph
    );
  });

  it.each([
    [weights({ file: null, parameters: [] }), /train the model/],
    [weights({ parameters: [] }), /net.npz has no parameters for this layer/],
    [
      weights({ source: 'model', file: null, parameters: [] }),
      /editor\.model\(\)/
    ]
  ])('are missing, and it says how to get them', async (answer, text) => {
    const { document, a, show } = surroundings({
      weights: () => Promise.resolve(answer)
    });
    render(
      show(<LayerInternals id={a} owner={a} graph={document.snapshot()} />)
    );
    await settle();
    expect(screen.getByText(text)).toBeTruthy();
  });

  it('can be asked for again when something went wrong', async () => {
    const { document, a, show } = surroundings({
      weights: jest
        .fn()
        .mockRejectedValueOnce(new Error('net.npz is damaged'))
        .mockResolvedValueOnce(weights())
    });
    render(
      show(<LayerInternals id={a} owner={a} graph={document.snapshot()} />)
    );
    await settle();
    expect(screen.getByText('net.npz is damaged')).toBeTruthy();
    fireEvent.click(screen.getByText('Try again'));
    await settle();
    expect(screen.getByText('a/kernel:0')).toBeTruthy();
  });

  it('are asked for only where the section is open, by a host that has them', async () => {
    const host = { weights: jest.fn(() => Promise.resolve(weights())) };
    const { document, a, b, show } = surroundings(host);
    const graph = document.snapshot();
    const view = render(
      show(<LayerInternals key={a} id={a} owner={a} graph={graph} />)
    );
    await settle();
    const head = screen.getByRole('button', { name: 'Weights' });
    fireEvent.click(head);
    expect(head.getAttribute('aria-expanded')).toBe('false');
    view.rerender(
      show(<LayerInternals key={b} id={b} owner={b} graph={graph} />)
    );
    await settle();
    expect(host.weights).toHaveBeenCalledTimes(1);
    view.unmount();
    const other = surroundings({});
    render(
      other.show(
        <LayerInternals
          id={other.a}
          owner={other.a}
          graph={other.document.snapshot()}
        />
      )
    );
    expect(screen.queryByText('Weights')).toBeNull();
  });
});

describe('one sample', () => {
  it('is shown on the nodes until it is cleared', async () => {
    const host = { sample: jest.fn() };
    const { a, b, said, show } = surroundings(host);
    host.sample.mockResolvedValue(sampled({ [a]: { output: VALUES } }));
    render(
      show(
        <>
          <ActivationButtons />
          <Activation id={a} />
          <Activation id={b} />
        </>
      )
    );
    const clear = screen.getByLabelText('Clear the sample');
    expect(clear).toHaveProperty('disabled', true);
    fireEvent.click(screen.getByLabelText('Run one sample'));
    expect(screen.getByLabelText('Running one sample…')).toHaveProperty(
      'disabled',
      true
    );
    await settle();
    expect(said.pop()).toBe(
      'Test sample 7 of digits on torch, with parameters from net.npz.'
    );
    const strips = window.document.querySelectorAll('.labdl-activation');
    expect(strips).toHaveLength(1);
    expect(strips[0].textContent).toContain('0.25 ± 1.5');
    fireEvent.click(clear);
    expect(window.document.querySelector('.labdl-activation')).toBeNull();
  });

  it('is stale when the graph has changed, also while it ran', async () => {
    const answer = promised<SampleAnswer>();
    const { document, a, sample } = surroundings({
      sample: () => answer.promise
    });
    const running = sample.run();
    document.addNode({ type: 'Linear', position: [0, 200] });
    answer.keep(sampled({ [a]: { output: VALUES } }));
    await running;
    expect(sample.store.isStale()).toBe(true);
    document.undo();
    expect(sample.store.isStale()).toBe(false);
    document.move({ [a]: [50, 50] });
    expect(sample.store.isStale()).toBe(false);
    document.rename(a, 'other', 'name');
    expect(sample.store.isStale()).toBe(true);
  });

  it('that fails leaves what was shown, and says why', async () => {
    const { said, sample } = surroundings({
      sample: jest
        .fn()
        .mockResolvedValueOnce(sampled({ node: { output: VALUES } }))
        .mockRejectedValueOnce(new Error('torch is not installed'))
    });
    await sample.run();
    await sample.run();
    expect(said.pop()).toBe('The sample could not run: torch is not installed');
    expect(sample.store.node('node')).toBeTruthy();
    expect(sample.store.state().isRunning).toBe(false);
  });

  it('runs once at a time, and not where the host cannot', async () => {
    const host = { sample: jest.fn(() => promised<SampleAnswer>().promise) };
    const { sample } = surroundings(host);
    void sample.run();
    void sample.run();
    expect(host.sample).toHaveBeenCalledTimes(1);
    const other = surroundings({});
    const { container } = render(other.show(<ActivationButtons />));
    expect(container.textContent).toBe('');
    await other.sample.run();
    expect(other.said).toEqual([]);
  });

  it('says what is not finite, and what a picture shows', async () => {
    const drawn: [number[], number, number][] = [];
    const context = {
      clearRect: () => undefined,
      putImageData: ({ data }: { data: number[] }, x: number, y: number) =>
        drawn.push([[...data], x, y])
    };
    jest
      .spyOn(HTMLCanvasElement.prototype, 'getContext')
      .mockReturnValue(context as never);
    const picture = {
      width: 1,
      height: 2,
      tiles: 16,
      channels: 32,
      colors: 1 as const,
      low: -1,
      high: 2,
      data: btoa('\x00\xff'.repeat(16))
    };
    const values = { ...VALUES, not_finite: 3, picture };
    const { sample, show } = surroundings({
      sample: () => Promise.resolve(sampled({ node: { output: values } }))
    });
    await sample.run();
    const { container } = render(show(<Activation id="node" />));
    expect(container.textContent).toContain('3 not finite');
    expect(within(container).getByRole('img').title).toBe(
      '12 of 32 channels; black is −1, white is 2'
    );
    expect(drawn).toHaveLength(12);
    expect(drawn[7]).toEqual([[0, 0, 0, 255, 255, 255, 255, 255], 2, 3]);
  });
});

describe('Histogram', () => {
  const words = (data: Parameters<typeof Histogram>[0]['data']) => {
    render(<Histogram data={data} name="kernel" trans={trans} />);
    return screen.getByRole('img').getAttribute('aria-label');
  };

  it('says in words what it shows', () => {
    expect(words({ low: -1, high: 2, counts: [1, 4, 1] })).toBe(
      'kernel: 6 values from −1 to 2, mode between 0 and 1'
    );
  });

  it('knows values that are all the same', () => {
    expect(words({ low: 0.5, high: 0.5, counts: [9] })).toBe(
      'kernel: all 9 values are 0.5'
    );
  });
});

it('writes numbers short', () => {
  expect(
    [0, 1234.5, -0.00012345, 1e-9, 2.5e7, null].map(value =>
      formatSignificant(value)
    )
  ).toEqual(['0', '1230', '−0.000123', '1e−9', '2.5e7', '–']);
  expect(formatSignificant(-0.006987, 2)).toBe('−0.007');
  expect([0, 0.00001, 0.125, 0.99999, 1, null].map(formatPercent)).toEqual([
    '0 %',
    '< 0.1 %',
    '12.5 %',
    '> 99.9 %',
    '100 %',
    '–'
  ]);
});
