// Decodes events of a kernel: JSON, with the columns of "steps" events in one buffer of float32.
//
// A packed steps event is {kind: "steps", time, length, base, columns: ["loss", …]}. In the buffer it takes
// (1 + columns.length) × length little-endian float32: first step − base, then each column. NaN is NaN. Steps are
// sent relative to `base` because float32 holds integers exactly only up to 2^24.
// labdl/lab/widgets/binary_events.py is the encoder.

import type { RunEvent } from './source';

interface PackedSteps {
  kind: 'steps';
  time: number;
  length: number;
  base: number;
  columns: string[];
}

export type PackedEvent = PackedSteps | Exclude<RunEvent, { kind: 'steps' }>;

const SIZE = Float32Array.BYTES_PER_ELEMENT;

export function unpack(
  events: readonly PackedEvent[],
  buffers: readonly DataView[]
): RunEvent[] {
  const [buffer] = buffers;
  let offset = 0;
  const take = (length: number): Float32Array => {
    const begin = buffer.byteOffset + offset;
    offset += length * SIZE;
    // A copy, since the offset in the message's buffer need not be a multiple of four.
    return new Float32Array(
      buffer.buffer.slice(begin, begin + length * SIZE) as ArrayBuffer
    );
  };
  return events.map(event => {
    if (event.kind !== 'steps') {
      return event;
    }
    const { kind, time, length, base, columns } = event;
    const after = take(length);
    // Float64Array.from with a function is ten times slower.
    const step = new Float64Array(length);
    for (let i = 0; i < length; i++) {
      step[i] = base + after[i];
    }
    return {
      kind,
      time,
      step,
      ...Object.fromEntries(columns.map(name => [name, take(length)]))
    };
  });
}
