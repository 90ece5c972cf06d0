// Tests of the health of layers: from a run's events to the strips, and the origin of NaN.
import { act, fireEvent, render, screen } from '@testing-library/react';
import { Profiler, ReactNode } from 'react';
import * as Y from 'yjs';

import { LayerHealth, stateOf } from '../../../runs/store/health-figures';
import type { HealthEvent, RunEvent } from '../../../runs/store/source';
import { CheckStore } from '../../model/check-store';
import { OWN_SHORTCUTS } from '../../commands/key-bindings';
import { EditorContext, EditorContextProvider } from '../../context';
import { GraphDocument } from '../../model/document';
import { faultEdges } from '../fault-edges';
import { BlockHealthStrip, HealthStrip } from '../HealthStrip';
import { HealthButton } from '../HealthButton';
import { HealthDetails } from '../HealthDetails';
import { stripOf, worstOf } from '../health-figures';
import { HealthWatch } from '../health-watch';
import { EditorHost } from '../../host';
import { NOBODY } from '../../model/collaborators';
import { SampleRun } from '../../samples/sample-run';
import { lineOf } from '../../../runs/charts/Sparkline';
import { plainTranslator as trans } from '../../../ui/translator';

const START: RunEvent = { kind: 'start', time: 1 };

function health(
  gradient: (number | null)[],
  more: Partial<HealthEvent> & { zeros?: number; broken?: number } = {}
): HealthEvent {
  const { zeros = 0.25, broken = 0, ...event } = more;
  const of = gradient.map((_, index) => index);
  const each = <T,>(value: T) => of.map(() => value);
  return {
    kind: 'health',
    time: 2,
    step: 3,
    samples: 32,
    parameters: { of, gradient, weights: each(2), update: each(0.001) },
    outputs: {
      of,
      mean: each(0.5),
      std: each(1.5),
      largest: each(4),
      zeros: each(zeros),
      not_finite: each(broken)
    },
    ...event
  };
}

function surroundings() {
  const document = new GraphDocument(new Y.Doc());
  const a = document.addNode({ type: 'Linear', position: [0, 0] });
  const b = document.addNode({ type: 'ReLU', position: [0, 99] });
  document.addEdges([
    { source: a, source_port: 'output', target: b, target_port: 'x' }
  ]);
  let hear: (events: readonly RunEvent[]) => void = () => undefined;
  const left = jest.fn();
  const host = {
    followRun: (listener: typeof hear) => {
      hear = listener;
      return left;
    }
  } as unknown as EditorHost;
  const watch = new HealthWatch(document, host);
  const stop = watch.start();
  const context: EditorContext = {
    trans,
    checks: new CheckStore(),
    host,
    sample: new SampleRun(document, host, () => undefined, trans),
    health: watch,
    people: NOBODY,
    shortcuts: OWN_SHORTCUTS,
    closed: new Set(),
    hueOf: () => undefined
  };
  const show = (content: ReactNode) => (
    <EditorContextProvider value={context}>{content}</EditorContextProvider>
  );
  const tell = (...events: RunEvent[]) => act(() => hear(events));
  const names = Object.values(document.snapshot().nodes).map(n => n.name);
  return { document, a, b, watch, stop, left, tell, show, layers: names };
}

const FINE: LayerHealth = {
  gradient: 1,
  weights: 2,
  update: 0.001,
  zeros: 0.5
};

describe('what figures say', () => {
  it.each<[LayerHealth, string]>([
    [FINE, 'fine'],
    [{ zeros: 0.5 }, 'fine'],
    [{}, 'fine'],
    [{ ...FINE, gradient: 5e-5 }, 'vanishing'],
    [{ ...FINE, gradient: 2e-4 }, 'fine'],
    [{ ...FINE, gradient: 0 }, 'vanishing'],
    [{ ...FINE, update: 0.2 }, 'exploding'],
    [{ ...FINE, gradient: 2000 }, 'exploding'],
    [{ ...FINE, zeros: 1 }, 'dead'],
    [{ ...FINE, gradient: null }, 'broken'],
    [{ ...FINE, weights: null, zeros: 1 }, 'broken'],
    [{ ...FINE, notFinite: 1 }, 'broken']
  ])('%j is %s', (figures, state) => {
    expect(stateOf(figures, 1, 100)).toBe(state);
  });

  it('where no gradient arrives anywhere, that is said of every layer', () => {
    expect(stateOf({ ...FINE, gradient: 0 }, 0, 100)).toBe('vanishing');
  });

  it('large updates count once the optimizer knows the gradients', () => {
    const first = { ...FINE, update: 0.2 };
    expect(stateOf(first, 1, 3)).toBe('fine');
    expect(stateOf(first, 1, 21)).toBe('exploding');
  });

  it('bars are longer the larger the gradient, from end to end', () => {
    const level = (gradient: number | null) =>
      stripOf({ ...FINE, gradient }, 1, 100).level;
    const levels = [0, 1e-12, 1e-6, 1e-3, 1, 1e6].map(level);
    expect(levels).toEqual([0, 0, 18, 46, 72, 100]);
    expect(level(null)).toBe(100);
    expect(stripOf({ zeros: 0.5 }, 1, 100)).toEqual({
      state: 'fine',
      level: null,
      zeros: null
    });
    expect(stripOf({ zeros: 0.857 }, 1, 100).zeros).toBe(85);
  });

  it('the worst layer of a block stands for it', () => {
    const strip = (state: 'fine' | 'dead' | 'broken', level: number | null) =>
      ({ state, level, zeros: null }) as const;
    expect(worstOf([])).toBeUndefined();
    expect(
      worstOf([strip('fine', 40), strip('dead', 9), strip('fine', 3)])?.state
    ).toBe('dead');
    expect(
      worstOf([strip('fine', null), strip('fine', 40), strip('fine', 20)])
    ).toEqual(strip('fine', 20));
  });
});

describe('a run', () => {
  it('is shown on the nodes that it knows by name', () => {
    const { a, b, tell, show, layers, document } = surroundings();
    const { container } = render(show(<HealthStrip id={a} />));
    expect(container.firstChild).toBeNull();
    tell(START, health([1, 0.5], { layers }));
    const strip = screen.getByRole('img');
    expect(strip.dataset.state).toBe('fine');
    expect(strip.getAttribute('aria-label')).toBe('This layer is healthy.');
    expect(strip.title).toBe('');
    fireEvent.pointerEnter(strip);
    expect(strip.title).toContain('Gradient: 1');
    expect(strip.title).toContain('Update: 0.1 %');
    expect(strip.title).toContain('After step 3, for 32 samples');
    fireEvent.pointerLeave(strip);
    expect(strip.title).toBe('');
    // a rename after the start does not affect the run
    act(() => document.rename(a, 'other'));
    tell(health([1e-9, 0.5]));
    expect(screen.getByText('vanishing')).toBeTruthy();
    expect(b).not.toBe(a);
  });

  it('draws a node again only when it looks different', () => {
    const { a, b, tell, show, layers } = surroundings();
    const drawn: string[] = [];
    const node = (id: string) => (
      <Profiler key={id} id={id} onRender={name => drawn.push(name)}>
        <HealthStrip id={id} />
      </Profiler>
    );
    render(show([node(a), node(b)]));
    tell(START, health([1, 0.5], { layers }));
    drawn.length = 0;
    tell(health([1.01, 0.501]));
    expect(drawn).toEqual([]);
    tell(health([1.01, 0.001]));
    expect(drawn).toEqual([b]);
    // the tooltip has the current figures
    fireEvent.pointerEnter(screen.getAllByRole('img')[0]);
    expect(screen.getAllByRole('img')[0].title).toContain('Gradient: 1.01');
  });

  it('is stale while the graph is another one, and gone when another begins', () => {
    const { a, document, tell, show, layers, watch } = surroundings();
    render(show(<HealthStrip id={a} />));
    tell(START, health([1, 0.5], { layers }));
    act(() => document.move({ [a]: [50, 50] }));
    expect(watch.store.state().isStale).toBe(false);
    act(() => document.setParam(a, 'out_features', 7));
    expect(screen.getByRole('img').className).toContain('labdl-mod-stale');
    expect(screen.getByRole('img').getAttribute('aria-label')).toContain(
      'changed since'
    );
    act(() => document.undo());
    expect(screen.getByRole('img').className).not.toContain('labdl-mod-stale');
    tell(START);
    expect(screen.queryByRole('img')).toBeNull();
  });

  it('can be hidden', () => {
    const { a, tell, show, layers } = surroundings();
    render(show([<HealthStrip key="a" id={a} />, <HealthButton key="b" />]));
    expect(screen.queryByRole('button')).toBeNull();
    tell(START, health([1, 0.5], { layers }));
    fireEvent.click(screen.getByLabelText(/^Hide layer statistics/));
    expect(screen.queryByRole('img')).toBeNull();
    fireEvent.click(screen.getByLabelText(/^Show layer statistics/));
    expect(screen.getByRole('img')).toBeTruthy();
  });

  it('of a folded block shows the worst layer, by name', () => {
    const { a, b, tell, show, layers } = surroundings();
    render(show(<BlockHealthStrip id="block" members={[a, b]} />));
    tell(START, health([1, 1e-6], { layers }));
    expect(screen.getByText('vanishing')).toBeTruthy();
    fireEvent.pointerEnter(screen.getByRole('img'));
    expect(screen.getByRole('img').title.split('\n')[0]).toBe(layers[1]);
  });

  it('is told in figures, each with its history', () => {
    const { a, tell, show, layers } = surroundings();
    const { container } = render(show(<HealthDetails id={a} />));
    expect(container.firstChild).toBeNull();
    tell(START, health([1, 0.5], { layers }), health([10, 0.5]));
    tell(health([null, 0.5], { broken: 3 }));
    expect(screen.getByText('Gradient').parentElement?.textContent).toBe(
      'Gradientnot finite'
    );
    expect(screen.getByText('Not finite').parentElement?.textContent).toBe(
      'Not finite3'
    );
    expect(screen.getByText(/infinite or NaN values\.$/)).toBeTruthy();
    const [first] = container.querySelectorAll('path[d^="M0"]');
    expect(first.getAttribute('d')).toBe('M0.0 13.0L30.0 1.0');
  });

  it('is left when the editor goes', () => {
    const { stop, left } = surroundings();
    stop();
    expect(left).toHaveBeenCalledTimes(1);
  });
});

describe('where NaN came from', () => {
  const end = (what: 'output' | 'gradient', node: string | null): RunEvent => ({
    kind: 'end',
    time: 9,
    status: 'failed',
    message: 'not finite',
    place: { node, what }
  });

  it.each([
    ['output', 1],
    ['gradient', 0]
  ] as const)('the node of an %s is marked, and %d edge', (what, count) => {
    const { a, document, tell, show, layers, watch } = surroundings();
    render(
      show([<HealthStrip key="a" id={a} />, <HealthDetails key="b" id={a} />])
    );
    tell(START, end(what, layers[0]));
    expect(screen.getByText('first NaN')).toBeTruthy();
    expect(
      screen.getByText(new RegExp(`${what} first became infinite or NaN`))
    ).toBeTruthy();
    const red = faultEdges(document.snapshot(), watch.store.fault());
    expect(red.size).toBe(count);
    act(() => watch.store.show(false));
    expect(watch.store.fault()).toBeNull();
    tell(START);
    act(() => watch.store.show(true));
    expect(watch.store.fault()).toBeNull();
  });

  it('a place that is not in the graph marks nothing', () => {
    const { tell, watch } = surroundings();
    tell(START, end('output', 'elsewhere'), end('output', null));
    expect(watch.store.fault()).toBeNull();
    expect(watch.store.state().isAny).toBe(false);
  });

  it('the edges of a folded block are those of the layer in it', () => {
    const { document, a } = surroundings();
    const { edges, nodes } = document.snapshot();
    const [edge] = Object.values(edges);
    const box = 'block/';
    const drawn = {
      ...document.snapshot(),
      nodes: { ...nodes, [box]: nodes[a] },
      edges: { e: { ...edge, source: box, source_port: `${a}|output` } }
    };
    const fault = { id: a, what: 'output' as const };
    expect([...faultEdges(drawn, fault)]).toEqual(['e']);
    expect([...faultEdges(drawn, { ...fault, id: 'other' })]).toEqual([]);
  });
});

describe('a tiny line', () => {
  it.each([
    [[], ''],
    [[5], 'M27 7.0h6'],
    [[1, 1], 'M0.0 7.0L60.0 7.0'],
    [[1, NaN, 2, 3], 'M0.0 13.0M40.0 7.0L60.0 1.0'],
    [[NaN, NaN], '']
  ])('of %j', (values, path) => {
    expect(lineOf(values, false)).toBe(path);
  });
});
