// Pages of samples: what is in view is requested, what is not is given up.

import type { SamplesAnswer } from '../../api/data';
import { PAGE, SamplePages } from '../samples/sample-pages';
import { sample } from './mock-host';

interface Asked {
  start: number;
  signal: AbortSignal;
  answer: (total?: number) => void;
  fail: (message: string) => void;
}

const settle = () => new Promise(resolve => setTimeout(resolve, 0));
const later = () => new Promise(resolve => setTimeout(resolve, 120));

function pagesOf(total: number | null) {
  const asked: Asked[] = [];
  const pages = new SamplePages(
    (start, count, signal) =>
      new Promise<SamplesAnswer>((resolve, reject) =>
        asked.push({
          start,
          signal,
          answer: (all = 10_000) =>
            resolve({
              samples: Array.from({ length: count }, (_, i) =>
                sample(start + i)
              ),
              total: all
            }),
          fail: message => reject(new Error(message))
        })
      ),
    total
  );
  return { pages, asked };
}

it('requests the page in view and the next one, each once', async () => {
  const { pages, asked } = pagesOf(10_000);
  pages.show(0, 20);
  expect(asked.map(({ start }) => start)).toEqual([0, PAGE]);
  expect(pages.at(0)).toBeUndefined();
  asked[0].answer();
  await settle();
  expect(pages.at(5)?.index).toBe(5);
  pages.show(1, 21);
  await later();
  expect(asked).toHaveLength(2);
});

it('gives up pages that left the view, and asks for those in view', async () => {
  const { pages, asked } = pagesOf(10_000);
  pages.show(0, 20);
  pages.show(5000, 5020);
  await later();
  expect(asked[0].signal.aborted).toBe(true);
  expect(asked[1].signal.aborted).toBe(true);
  const page = Math.floor(5000 / PAGE) * PAGE;
  expect(asked.map(({ start }) => start)).toContain(page);
  asked[0].answer(); // too late: it is not used
  await settle();
  expect(pages.at(0)).toBeUndefined();
});

it('asks a few times for a long way', async () => {
  const { pages, asked } = pagesOf(1_000_000);
  for (let first = 0; first < 500_000; first += 5000) {
    pages.show(first, first + 40);
  }
  await later();
  expect(asked.length).toBeLessThan(6);
});

it('learns the number of samples, and keeps no more than it may', async () => {
  const { pages, asked } = pagesOf(null);
  expect(pages.total).toBeNull();
  pages.show(0, 10);
  asked[0].answer(7);
  await settle();
  expect(pages.total).toBe(7);
  expect(asked.map(({ start }) => start)).not.toContain(7 * PAGE);
});

it('says why samples are missing, and asks again on request only', async () => {
  const { pages, asked } = pagesOf(10);
  let heard = 0;
  pages.subscribe(() => heard++);
  pages.show(0, 9);
  asked[0].fail('the disk is gone');
  await settle();
  expect(pages.problem).toBe('the disk is gone');
  expect(heard).toBe(1);
  pages.show(0, 9);
  await later();
  expect(asked).toHaveLength(1);
  pages.retry();
  expect(pages.problem).toBeNull();
  expect(asked).toHaveLength(2);
  pages.dispose();
  expect(asked[1].signal.aborted).toBe(true);
});
