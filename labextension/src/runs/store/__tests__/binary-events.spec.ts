import { unpack, type PackedEvent } from '../binary-events';

/** Bytes as in a message: at an unaligned offset in a larger buffer. */
function misaligned(values: number[]): DataView {
  const buffer = new ArrayBuffer(values.length * 4 + 3);
  const view = new DataView(buffer, 3);
  values.forEach((value, i) => view.setFloat32(i * 4, value, true));
  return view;
}

const START: PackedEvent = { kind: 'start', time: 0, epochs: 1 };

describe('unpack', () => {
  it('takes the columns of several events from one buffer', () => {
    const first: PackedEvent = {
      kind: 'steps',
      time: 1,
      length: 2,
      base: 1,
      columns: ['loss', 'accuracy']
    };
    const second: PackedEvent = {
      kind: 'steps',
      time: 2,
      length: 1,
      base: 3,
      columns: ['loss']
    };
    const [start, a, b] = unpack(
      [START, first, second],
      [misaligned([0, 1, 0.5, NaN, 0.25, 0.75, 0, 0.125])]
    );
    expect(start).toBe(START);
    expect(a).toMatchObject({ kind: 'steps', time: 1 });
    const plain = (event: unknown, name: string) =>
      Array.from((event as unknown as Record<string, ArrayLike<number>>)[name]);
    expect(plain(a, 'step')).toEqual([1, 2]);
    expect(plain(a, 'loss')).toEqual([0.5, NaN]);
    expect(plain(a, 'accuracy')).toEqual([0.25, 0.75]);
    expect(plain(b, 'step')).toEqual([3]);
    expect(plain(b, 'loss')).toEqual([0.125]);
  });

  it('keeps steps beyond 2^24 exact', () => {
    const packed: PackedEvent = {
      kind: 'steps',
      time: 1,
      length: 2,
      base: 2 ** 24 + 1,
      columns: []
    };
    const [event] = unpack([packed], [misaligned([0, 1])]);
    expect(Array.from((event as { step: ArrayLike<number> }).step)).toEqual([
      2 ** 24 + 1,
      2 ** 24 + 2
    ]);
  });

  it('needs no buffer without steps', () => {
    expect(unpack([START], [])).toEqual([START]);
  });
});
