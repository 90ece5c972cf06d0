// Export of a chart as an image: PNG as on the screen, SVG for papers and slides.

import type uPlot from 'uplot';
import type { Plot } from './plot';

const TITLE = 24;
const FONT = 'system-ui, sans-serif';

export function png(title: string, { drawn, colors }: Plot): Promise<Blob> {
  const from = drawn.ctx.canvas;
  const scale = from.width / drawn.width;
  const canvas = document.createElement('canvas');
  canvas.width = from.width;
  canvas.height = from.height + TITLE * scale;
  const context = canvas.getContext('2d');
  if (!context) {
    return Promise.reject(new Error('This browser draws no pictures.'));
  }
  const { surface, text } = colors();
  context.fillStyle = surface;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = text;
  context.font = `600 ${13 * scale}px ${FONT}`;
  context.fillText(title, 8 * scale, 17 * scale);
  context.drawImage(from, 0, TITLE * scale);
  return new Promise((resolve, reject) =>
    canvas.toBlob(blob =>
      blob ? resolve(blob) : reject(new Error('The picture is too large.'))
    )
  );
}

export function svg(title: string, plot: Plot): Blob {
  return new Blob([svgText(title, plot)], { type: 'image/svg+xml' });
}

/** SVG with the same lines, bands and axes as on the screen. */
export function svgText(title: string, plot: Plot): string {
  const { drawn: u, colors, bands } = plot;
  const { text, grid, surface } = colors();
  const ratio = u.ctx.canvas.width / u.width;
  const [left, top, width, height] = [
    u.bbox.left,
    u.bbox.top,
    u.bbox.width,
    u.bbox.height
  ].map(pixels => pixels / ratio);
  const x = (value: number) => left + u.valToPos(value, 'x');
  const y = (value: number) => top + u.valToPos(value, 'y');
  const parts: string[] = [];
  const line = (x1: number, y1: number, x2: number, y2: number) =>
    `<path d="M${short(x1)} ${short(y1)}L${short(x2)} ${short(y2)}" stroke="${escaped(grid)}" fill="none"/>`;
  const label = (at: number, up: number, anchor: string, words: string) =>
    `<text x="${short(at)}" y="${short(up)}" text-anchor="${anchor}" fill="${escaped(text)}">${escaped(words)}</text>`;

  for (const [place, words] of plotTicks(u, 0)) {
    parts.push(line(x(place), top, x(place), top + height));
    parts.push(label(x(place), top + height + 16, 'middle', words));
  }
  for (const [place, words] of plotTicks(u, 1)) {
    parts.push(line(left, y(place), left + width, y(place)));
    parts.push(label(left - 6, y(place) + 4, 'end', words));
  }
  const drawn: string[] = [];
  const area = (there: Piece, back: Piece, fill: unknown, series: number) =>
    drawn.push(
      `<path d="M${[...there, ...back].join('L')}Z" fill="${escaped(paint(fill, u, series))}"/>`
    );
  for (const { series, fill } of bands) {
    const [high, low] = series.map(place => piecesOf(u, place, x, y));
    high.forEach((piece, i) =>
      area(piece, [...(low[i] ?? [])].reverse(), fill, series[0])
    );
  }
  u.series.forEach((series, place) => {
    const stroke = place ? paint(series.stroke, u, place) : 'none';
    const pieces = place ? piecesOf(u, place, x, y) : [];
    const ground = short(top + height);
    if (series.fill && place) {
      pieces.forEach(piece => {
        const [[first], [last]] = [piece[0], piece[piece.length - 1]].map(
          point => point.split(' ')
        );
        const back = [`${last} ${ground}`, `${first} ${ground}`];
        area(piece, back, series.fill, place);
      });
    }
    if (stroke !== 'none' && series.width) {
      const path = pieces.map(piece => `M${piece.join('L')}`).join('');
      drawn.push(
        `<path d="${path}" fill="none" stroke="${escaped(stroke)}" stroke-width="${series.width}" opacity="${series.alpha ?? 1}" stroke-linejoin="round"/>`
      );
      pieces
        .filter(({ length }) => length === 1)
        .forEach(([point]) => {
          const [cx, cy] = point.split(' ');
          drawn.push(
            `<circle cx="${cx}" cy="${cy}" r="2.5" fill="${escaped(stroke)}" opacity="${series.alpha ?? 1}"/>`
          );
        });
    }
  });
  for (const { at, color } of plot.flags()) {
    drawn.push(
      `<path d="M${short(x(at))} ${short(top)}V${short(top + height)}" stroke="${escaped(color)}" opacity="0.6"/>`
    );
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${u.width}" height="${u.height + TITLE}" font-family="${FONT}" font-size="11">`,
    `<rect width="100%" height="100%" fill="${escaped(surface)}"/>`,
    `<text x="8" y="17" font-size="13" font-weight="600" fill="${escaped(text)}">${escaped(title)}</text>`,
    `<g transform="translate(0 ${TITLE})"><clipPath id="inside"><rect x="${short(left)}" y="${short(top)}" width="${short(width)}" height="${short(height)}"/></clipPath>`,
    ...parts,
    '<g clip-path="url(#inside)">',
    ...drawn,
    '</g></g></svg>'
  ].join('\n');
}

/** Points as "x y", in order. */
type Piece = string[];

/** Points of a series, split at its gaps. */
function piecesOf(
  u: uPlot,
  series: number,
  x: (value: number) => number,
  y: (value: number) => number
): Piece[] {
  const pieces: Piece[] = [[]];
  u.data[series].forEach((value, i) => {
    if (value === null) {
      pieces.push([]);
    } else if (value !== undefined) {
      pieces[pieces.length - 1].push(
        `${short(x(u.data[0][i]))} ${short(y(value))}`
      );
    }
  });
  return pieces.filter(piece => piece.length);
}

/** Ticks of an axis with their labels. */
function plotTicks(u: uPlot, place: number): [number, string][] {
  const axis = u.axes[place] as uPlot.Axis & {
    _splits?: (number | null)[];
    _values?: string[];
  };
  return (axis._splits ?? []).flatMap((split, i) =>
    split === null ? [] : [[split, axis._values?.[i] ?? ''] as [number, string]]
  );
}

function paint(color: unknown, u: uPlot, series: number): string {
  const found = typeof color === 'function' ? color(u, series) : color;
  return typeof found === 'string' ? found : 'none';
}

function short(value: number): string {
  return value.toFixed(1);
}

function escaped(words: string): string {
  return words.replace(
    /[&<>"']/g,
    character => `&#${character.charCodeAt(0)};`
  );
}
