// A chart as a picture to keep: PNG as it is on the screen, and SVG for papers and slides.

import type uPlot from 'uplot';
import type { Plot } from './plot';

const TITLE = 24;
const FONT = 'system-ui, sans-serif';

export function png(title: string, { drawn, colours }: Plot): Promise<Blob> {
  const from = drawn.ctx.canvas;
  const scale = from.width / drawn.width;
  const canvas = document.createElement('canvas');
  canvas.width = from.width;
  canvas.height = from.height + TITLE * scale;
  const context = canvas.getContext('2d');
  if (!context) {
    return Promise.reject(new Error('This browser draws no pictures.'));
  }
  const { surface, text } = colours();
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

/** The same lines, bands and axes as on the screen. */
export function svgText(title: string, plot: Plot): string {
  const { drawn: u, colours, bands } = plot;
  const { text, grid, surface } = colours();
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
  const drawnLines: string[] = [];
  for (const { series, fill } of bands) {
    const [high, low] = series;
    const there = pointsOf(u, high, x, y);
    const back = pointsOf(u, low, x, y).reverse();
    if (there.length) {
      const area = [...there, ...back]
        .map(point => point ?? [])
        .filter(p => p.length);
      drawnLines.push(
        `<path d="M${area.map(p => p.join(' ')).join('L')}Z" fill="${escaped(paint(fill, u, high))}" stroke="none"/>`
      );
    }
  }
  u.series.forEach((series, place) => {
    const stroke = place ? paint(series.stroke, u, place) : '';
    if (stroke && series.width) {
      drawnLines.push(
        `<path d="${pathOf(pointsOf(u, place, x, y))}" fill="none" stroke="${escaped(stroke)}" stroke-width="${series.width}" opacity="${series.alpha ?? 1}" stroke-linejoin="round"/>`
      );
    }
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${u.width}" height="${u.height + TITLE}" font-family="${FONT}" font-size="11">`,
    `<rect width="100%" height="100%" fill="${escaped(surface)}"/>`,
    `<text x="8" y="17" font-size="13" font-weight="600" fill="${escaped(text)}">${escaped(title)}</text>`,
    `<g transform="translate(0 ${TITLE})"><clipPath id="inside"><rect x="${short(left)}" y="${short(top)}" width="${short(width)}" height="${short(height)}"/></clipPath>`,
    ...parts,
    '<g clip-path="url(#inside)">',
    ...drawnLines,
    '</g></g></svg>'
  ].join('\n');
}

type Point = [x: string, y: string] | null;

/** The points of a series; null is a gap in the line. */
function pointsOf(
  u: uPlot,
  series: number,
  x: (value: number) => number,
  y: (value: number) => number
): Point[] {
  const points: Point[] = [];
  const values = u.data[series];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value !== undefined) {
      points.push(
        value === null ? null : [short(x(u.data[0][i])), short(y(value))]
      );
    }
  }
  return points;
}

function pathOf(points: readonly Point[]): string {
  let isOpen = false;
  return points
    .map(point => {
      const command = point ? `${isOpen ? 'L' : 'M'}${point.join(' ')}` : '';
      isOpen = point !== null;
      return command;
    })
    .join('');
}

/** The ticks that the axis shows, with their words. */
function plotTicks(u: uPlot, place: number): [number, string][] {
  const axis = u.axes[place] as uPlot.Axis & {
    _splits?: (number | null)[];
    _values?: string[];
  };
  return (axis._splits ?? []).flatMap((split, i) =>
    split === null ? [] : [[split, axis._values?.[i] ?? ''] as [number, string]]
  );
}

function paint(colour: unknown, u: uPlot, series: number): string {
  const found = typeof colour === 'function' ? colour(u, series) : colour;
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
