import { cleanup, fireEvent, screen, within } from '@testing-library/react';
import type { RunEvent } from '../../store/source';
import { accuracy, mistakes, mostConfused } from '../confusion';
import {
  confusion,
  predictions,
  recordedEvents,
  START,
  TIME
} from '../../store/__tests__/run-events';
import { pretendLayout, show } from '../../store/__tests__/showing';

// jsdom has no canvas: charts are tested in a browser
jest.mock('uplot', () => ({ __esModule: true, default: class {} }));
jest.mock('../../charts/PlotFrame', () => ({
  PlotFrame: ({ label }: { label: string }) => (
    <div role="img" aria-label={label} />
  )
}));

beforeAll(pretendLayout);
afterEach(cleanup);

const cards = () =>
  screen
    .getAllByRole('listitem')
    .filter(item => item.classList.contains('labdl-sample'));
const slide = (value: number) =>
  fireEvent.change(screen.getByLabelText('Point in the training'), {
    target: { value: String(value) }
  });

describe('Predictions', () => {
  const verdicts = () =>
    cards().map(card => card.querySelector('.labdl-verdict')?.textContent);

  it('shows target, output and verdict of each sample, epoch by epoch', () => {
    show(recordedEvents(), { tab: 'predictions' });
    expect(cards()).toHaveLength(8);
    expect(verdicts()).toEqual(Array(8).fill('✓ right'));
    expect(screen.getByText('8 of 8 right')).toBeTruthy();
    slide(0);
    expect(screen.getByText('After epoch 1, step 45')).toBeTruthy();
    expect(verdicts()).toEqual([
      ...Array(2).fill('✓ right'),
      ...Array(6).fill('✗ wrong')
    ]);
    const [, , third] = cards();
    expect(within(third).getByText('Sample 34')).toBeTruthy();
    expect(third.querySelector('dd')?.textContent).toBe('digit 2');
    const [first] = within(third).getAllByRole('listitem');
    expect(first.textContent).toBe('digit 350 %');
    expect(third.querySelector('[data-target]')?.textContent).toContain(
      'digit 2'
    );
  });

  it('stays at the moment that was chosen while the run goes on', () => {
    const { tell } = show(recordedEvents(), { tab: 'predictions' });
    tell(predictions(5));
    expect(screen.getByText('After epoch 5, step 225')).toBeTruthy();
    slide(1);
    tell(predictions(6));
    expect(screen.getByText('After epoch 2, step 90')).toBeTruthy();
  });

  it('shows texts, curves, values and pictures, and texts as texts', () => {
    const events: RunEvent[] = [
      START,
      {
        kind: 'samples',
        time: TIME,
        task: 'other',
        classes: null,
        samples: [
          { index: 0, input: { text: '<b>bold</b>' }, target: { class: 2 } },
          {
            index: 1,
            input: { curve: [[0, null, 1]] },
            target: { values: [1.5] }
          },
          { index: 2, input: { values: [1, 2, 3] }, target: { text: '' } }
        ]
      },
      {
        ...predictions(1),
        outputs: [
          { classes: [2], scores: [12.5] },
          { values: [1.25] },
          { text: 'said' }
        ]
      }
    ];
    show(events, { tab: 'predictions' });
    const [text, curve, values] = cards();
    expect(text.querySelector('blockquote')?.textContent).toBe('<b>bold</b>');
    expect(text.querySelector('.labdl-scores')?.textContent).toBe('2◀12.50');
    expect(curve.querySelector('svg')?.getAttribute('aria-label')).toBe(
      'Input of sample 1: curve from 0 to 1'
    );
    expect(curve.querySelector('path')?.getAttribute('d')).toBe(
      'M0.0 58.0M120.0 2.0'
    );
    expect(
      [...curve.querySelectorAll('dd')].map(each => each.textContent)
    ).toEqual(['1.500', '1.250']);
    expect(curve.querySelector('.labdl-verdict')).toBeNull();
    expect(values.textContent).toContain('1.000  2.000  3.000');
    expect(values.textContent).toContain('(empty text)');
  });
});

describe('Worst samples', () => {
  it('lists the samples of an epoch, and copies their indices', async () => {
    const copied: string[] = [];
    Object.assign(navigator, {
      clipboard: { writeText: async (text: string) => copied.push(text) }
    });
    show(recordedEvents(), { tab: 'worst' });
    expect(
      cards().map(card => card.querySelector('.labdl-sample-head')?.textContent)
    ).toEqual([
      'Sample 403✗ wrongloss 6.500',
      'Sample 405✗ wrongloss 5.500',
      'Sample 408✗ wrongloss 4.000'
    ]);
    slide(0);
    fireEvent.click(screen.getByText('Copy the indices'));
    expect(await screen.findByText('Copied')).toBeTruthy();
    expect(copied).toEqual(['[103, 105, 108]']);
  });
});

describe('Confusion', () => {
  const cells = () =>
    [...document.querySelectorAll('.labdl-matrix-table tbody tr')].map(row =>
      [...row.querySelectorAll('td')].map(cell => cell.textContent)
    );
  const matrix = (...counts: number[][]): RunEvent => ({
    kind: 'confusion',
    time: TIME,
    epoch: 1,
    step: 45,
    counts
  });

  it('counts, and gives shares of the true class', () => {
    show([START, matrix([8, 2], [0, 5])], { tab: 'confusion' });
    expect(cells()).toEqual([
      ['8', '2'],
      ['0', '5']
    ]);
    expect(screen.getByText('86.7 % right')).toBeTruthy();
    fireEvent.click(screen.getByLabelText('Normalize by true class'));
    expect(cells()).toEqual([
      ['.80', '.20'],
      ['0', '1.00']
    ]);
    fireEvent.mouseEnter(document.querySelectorAll('tbody td')[1]);
    expect(
      screen.getByText('true 0, predicted 1: 2 (20 % of 10)')
    ).toBeTruthy();
  });

  it('puts the classes first that are confused most', () => {
    show([START, matrix([9, 0, 0], [0, 5, 3], [0, 2, 6])], {
      tab: 'confusion'
    });
    fireEvent.click(screen.getByLabelText('Most confused first'));
    expect(cells()).toEqual([
      ['5', '3', '0'],
      ['2', '6', '0'],
      ['0', '0', '9']
    ]);
    const listed = document.querySelectorAll('.labdl-mistakes li');
    expect([...listed].map(each => each.textContent)).toEqual([
      '1→23 37.5 %',
      '2→12 25 %'
    ]);
  });

  it('draws a picture of many classes', () => {
    show([START, confusion(1, 100)], { tab: 'confusion' });
    expect(document.querySelector('.labdl-matrix-table')).toBeNull();
    const picture = screen.getByRole('img', { name: /^Confusion matrix/ });
    expect(picture.getAttribute('aria-label')).toContain('100 classes');
    picture.getBoundingClientRect = () =>
      ({ left: 0, top: 0, width: 500, height: 500 }) as DOMRect;
    fireEvent.mouseMove(picture, { clientX: 32, clientY: 32 });
    expect(screen.getByText(/^true 6, predicted 6: 24 /)).toBeTruthy();
  });

  it('lists the pairs where there are more classes than that', () => {
    const { counts: _, ...event } = confusion(1, 2) as never as Record<
      string,
      unknown
    >;
    const pairs = [
      [700, 3, 12],
      [1, 2, 30]
    ];
    show([START, { ...event, pairs } as never], { tab: 'confusion' });
    const listed = document.querySelectorAll('.labdl-mistakes li');
    expect([...listed].map(each => each.textContent)).toEqual([
      '1→230',
      '700→312'
    ]);
  });

  it('knows shares and mistakes', () => {
    const counts = [
      [4, 1],
      [0, 0]
    ];
    expect(accuracy(counts)).toBe(0.8);
    expect(accuracy([[0]])).toBeNull();
    expect(mostConfused([[1]])).toEqual([0]);
    expect(mistakes({ epoch: 1, step: 1, counts, pairs: [] }, 10)).toEqual([
      { truth: 0, predicted: 1, count: 1, share: 0.2 }
    ]);
  });
});
