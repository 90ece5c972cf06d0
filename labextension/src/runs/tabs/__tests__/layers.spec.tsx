import { cleanup, fireEvent, screen, within } from '@testing-library/react';
import type { PlotFrameProps } from '../../charts/PlotFrame';
import type { HealthEvent, RunEvent } from '../../store/source';
import { heatMap, pointAt } from '../heat-map';
import {
  health,
  recordedEvents,
  START
} from '../../store/__tests__/run-events';
import { pretendLayout, show } from '../../store/__tests__/showing';

const drawn: PlotFrameProps[] = [];

// jsdom has no canvas: charts are tested in a browser
jest.mock('uplot', () => ({ __esModule: true, default: class {} }));
jest.mock('../../charts/PlotFrame', () => ({
  PlotFrame: (props: PlotFrameProps) => {
    drawn.push(props);
    return <div role="img" aria-label={props.label} />;
  }
}));

beforeAll(pretendLayout);
beforeEach(() => {
  drawn.length = 0;
});
afterEach(cleanup);

const rows = () =>
  [...document.querySelectorAll('.labdl-layers-frame tbody tr')]
    .map(row => [...row.querySelectorAll('th, td')].map(c => c.textContent))
    .filter(cells => cells.length);
const layerNames = () => rows().map(([name]) => name);
const sortBy = (name: string) =>
  fireEvent.click(
    screen.getByRole('button', { name: RegExp(`^${name}( |$)`) })
  );

/** Three layers: one without a gradient, and one with values that are not finite. */
function unwell(): RunEvent[] {
  const event = health(50, ['first', 'second', 'third']);
  const gradient = [1, 1e-6, null];
  return [
    START,
    { ...event, parameters: { ...event.parameters, gradient } } as HealthEvent
  ];
}

it('has a row for each layer with its last figures', () => {
  show(recordedEvents(), { tab: 'layers' });
  expect(layerNames()).toEqual(['stem', 'block/conv', 'block/norm', 'head']);
  expect(rows()[1]).toEqual([
    'block/conv',
    'healthy',
    '0.254',
    '0.037 %',
    '6.8',
    '0.0657',
    '1.11',
    '20 %',
    '0'
  ]);
  expect(screen.getByText('After step 180, for 32 samples')).toBeTruthy();
});

it('names the class of a layer that has only an index', () => {
  const event = health(50, ['0', 'body/1', 'head']);
  const classes = ['Conv2d', 'Linear', 'Linear'];
  const { tell } = show([START, { ...event, classes } as HealthEvent], {
    tab: 'layers'
  });
  const expected = ['0 (Conv2d)', 'body/1 (Linear)', 'head'];
  expect(layerNames()).toEqual(expected);
  expect(screen.getByRole('region', { name: 'Layer 0 (Conv2d)' })).toBeTruthy();
  fireEvent.change(screen.getByRole('searchbox'), {
    target: { value: 'linear' }
  });
  expect(layerNames()).toEqual(['body/1 (Linear)']);
  fireEvent.change(screen.getByRole('searchbox'), { target: { value: '' } });
  const { layers, ...later } = health(60, ['0', 'body/1', 'head']);
  tell(later as HealthEvent);
  expect(layerNames()).toEqual(expected);
  expect(layers).toHaveLength(3);
});

it('says how a layer is, and sorts by it', () => {
  show(unwell(), { tab: 'layers' });
  expect(rows().map(([name, state]) => [name, state])).toEqual([
    ['first', 'healthy'],
    ['second', 'vanishing'],
    ['third', 'not finite']
  ]);
  sortBy('State');
  expect(layerNames()).toEqual(['third', 'second', 'first']);
  sortBy('Gradient');
  expect(layerNames()).toEqual(['third', 'first', 'second']);
  sortBy('Gradient');
  expect(layerNames()).toEqual(['second', 'first', 'third']);
  sortBy('Gradient');
  expect(layerNames()).toEqual(['first', 'second', 'third']);
  expect(
    screen
      .getAllByRole('columnheader')
      .every(head => head.getAttribute('aria-sort') === 'none')
  ).toBe(true);
});

it('filters by name', () => {
  show(recordedEvents(), { tab: 'layers' });
  const filter = screen.getByLabelText('Filter the layers by name');
  fireEvent.change(filter, { target: { value: 'BLOCK' } });
  expect(layerNames()).toEqual(['block/conv', 'block/norm']);
  fireEvent.change(filter, { target: { value: 'nothing' } });
  expect(screen.getByText('No layer name contains this text.')).toBeTruthy();
});

it('shows the layer that is chosen over time, by mouse and by arrows', () => {
  const shown: string[] = [];
  show(recordedEvents(), { tab: 'layers', onShow: name => shown.push(name) });
  const details = () => screen.getByRole('region', { name: /^Layer / });
  expect(details().getAttribute('aria-label')).toBe('Layer stem');
  const gradient = drawn[0].content.columns([0, 180], 500);
  expect(gradient[0]).toEqual(
    Array.from({ length: 18 }, (_, i) => 10 * i + 10)
  );
  expect(gradient[1][17]).toBeCloseTo(2 * Math.exp(-2) + 0.01);
  fireEvent.click(screen.getByRole('button', { name: 'block/norm' }));
  expect(details().getAttribute('aria-label')).toBe('Layer block/norm');
  fireEvent.keyDown(screen.getByRole('table'), {
    key: 'ArrowDown'
  });
  expect(details().getAttribute('aria-label')).toBe('Layer head');
  expect(document.activeElement?.textContent).toBe('head');
  fireEvent.click(within(details()).getByText('Show in the graph'));
  expect(shown).toEqual(['head']);
});

it('draws the rows in sight alone', () => {
  const names = Array.from({ length: 1000 }, (_, i) => `layer ${i}`);
  show([START, health(10, names)], { tab: 'layers' });
  expect(rows().length).toBeGreaterThan(9);
  expect(rows().length).toBeLessThan(60);
  expect(screen.getByRole('table').getAttribute('aria-rowcount')).toBe('1001');
});

it('has the histogram of each moment', () => {
  show(recordedEvents(), { tab: 'layers' });
  const bars = () =>
    document.querySelector('.labdl-spreads .labdl-histogram svg')?.ariaLabel ??
    document
      .querySelector('.labdl-spreads .labdl-histogram svg')
      ?.getAttribute('aria-label');
  expect(bars()).toContain('values from −0.75 to 0.75');
  const slider = screen.getByLabelText('Point in the training');
  expect(slider.getAttribute('aria-valuetext')).toBe('After step 180');
  fireEvent.change(slider, { target: { value: '0' } });
  expect(slider.getAttribute('aria-valuetext')).toBe('After step 10');
  expect(bars()).toContain('values from −0.325 to 0.325');
  fireEvent.click(screen.getByText('Gradients'));
  expect(bars()).toMatch(/^Gradients: /);
  fireEvent.click(screen.getByText('Latest'));
  expect(slider.getAttribute('aria-valuetext')).toBe('After step 180');
});

describe('the map of histograms', () => {
  const spread = (low: number, high: number, ...counts: number[]) => ({
    low,
    high,
    counts: Float32Array.from(counts)
  });
  const columns = [
    { step: 10, spread: spread(-1, 1, 1, 3) },
    { step: 20, spread: spread(-2, 2, 1, 1) },
    { step: 40, spread: spread(0, 0, 7) }
  ];

  it('puts steps where they were, and values upwards', () => {
    const map = heatMap(columns);
    expect([map.low, map.high, map.most]).toEqual([-2, 2, 1]);
    // borders at 5, 15, 30 and 50
    expect(map.borders.map(x => Math.round(x * 45 + 5))).toEqual([
      5, 15, 30, 50
    ]);
    expect(map.cells[1]).toEqual({
      left: 0,
      right: map.borders[1],
      top: 0.25,
      bottom: 0.5,
      share: 0.75
    });
  });

  it('tells what is under the pointer', () => {
    const map = heatMap(columns);
    const at = (across: number, down: number) =>
      pointAt(columns, map, across, down);
    expect(at(0.1, 0.3)).toEqual({
      column: 0,
      step: 10,
      low: 0,
      high: 1,
      share: 0.75
    });
    expect(at(0.1, 0.01)?.share).toBe(0);
    expect(at(0.4, 0.9)).toMatchObject({
      step: 20,
      low: -2,
      high: 0,
      share: 0.5
    });
    expect(at(0.9, 0.51)).toMatchObject({
      step: 40,
      low: 0,
      high: 0,
      share: 1
    });
    expect(at(0.9, 0.8)?.share).toBe(0);
  });

  it('has room for a single value', () => {
    const map = heatMap([{ step: 1, spread: spread(0, 0, 5) }]);
    expect([map.low, map.high]).toEqual([-0.5, 0.5]);
    expect(map.borders).toEqual([0, 1]);
  });
});
