import { fetchFinalSnapshot } from '../final-snapshot';

const answers = (...items: (boolean | Error)[]) => {
  const queue = [...items];
  return jest.fn(async () => {
    const next = queue.shift();
    if (next === undefined || next instanceof Error) {
      throw next ?? new Error('no more answers');
    }
    return { svg: `<svg>${String(next)}</svg>`, final: next };
  });
};

describe('fetchFinalSnapshot', () => {
  test('asks again while the picture is not final or the server fails', async () => {
    const fetch = answers(false, new Error('busy'), true);
    expect(await fetchFinalSnapshot(fetch, () => true, { wait: 0 })).toBe(
      '<svg>true</svg>'
    );
    expect(fetch).toHaveBeenCalledTimes(3);
  });

  test('gives up after some requests', async () => {
    const fetch = answers(false, false, false);
    const found = fetchFinalSnapshot(fetch, () => true, { wait: 0, tries: 3 });
    expect(await found).toBeNull();
    expect(fetch).toHaveBeenCalledTimes(3);
  });

  test('stops when the picture is no longer needed', async () => {
    let needed = true;
    const fetch = jest.fn(async () => {
      needed = false;
      return { svg: '<svg/>', final: true };
    });
    expect(await fetchFinalSnapshot(fetch, () => needed)).toBeNull();
    expect(await fetchFinalSnapshot(fetch, () => needed)).toBeNull();
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});
