// Viridis: a perceptually uniform palette, also for color-blind people and in print.

type Color = readonly [red: number, green: number, blue: number];

/** The palette of Smith and van der Walt (2015) at sixteen equal distances. */
const VIRIDIS: readonly Color[] = [
  [0x44, 0x01, 0x54],
  [0x48, 0x1a, 0x6c],
  [0x47, 0x2f, 0x7d],
  [0x41, 0x44, 0x87],
  [0x39, 0x56, 0x8c],
  [0x31, 0x68, 0x8e],
  [0x2a, 0x78, 0x8e],
  [0x23, 0x88, 0x8e],
  [0x1f, 0x98, 0x8b],
  [0x22, 0xa8, 0x84],
  [0x35, 0xb7, 0x79],
  [0x54, 0xc5, 0x68],
  [0x7a, 0xd1, 0x51],
  [0xa5, 0xdb, 0x36],
  [0xd2, 0xe2, 0x1b],
  [0xfd, 0xe7, 0x25]
];

/** Color of a number from 0 to 1. */
export function viridis(part: number): string {
  const at = Math.min(1, Math.max(0, part)) * (VIRIDIS.length - 1);
  const low = VIRIDIS[Math.floor(at)];
  const high = VIRIDIS[Math.ceil(at)];
  const mixed = low.map((value, channel) =>
    Math.round(value + (high[channel] - value) * (at % 1))
  );
  return `rgb(${mixed.join(' ')})`;
}

/** Color of text on that background: the one with more contrast. */
export function onViridis(part: number): string {
  return part < 0.55 ? '#fff' : '#000';
}

/** Background of a color bar, from the lowest to the highest value. */
export const VIRIDIS_BAR = `linear-gradient(to right, ${VIRIDIS.map(
  color => `rgb(${color.join(' ')})`
).join(', ')})`;
