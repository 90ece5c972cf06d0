// Draws the marks of a chart: a thin line with a flag at the step of a command or an alert.

import uPlot from 'uplot';
import type { Mark } from '../store/marks';
import type { ChartColors } from './theme';
import type { XAxis } from './x-axis';

const FLAG = 6;

export function colorOf(level: Mark['level'], colors: ChartColors): string {
  return level === 'plain' ? colors.text : colors[level];
}

export function drawMarks(
  u: uPlot,
  marks: readonly Mark[],
  axis: XAxis,
  colors: ChartColors
): void {
  const { ctx, bbox } = u;
  const size = FLAG * (window.devicePixelRatio || 1);
  const drawn = new Set<string>();
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top - size, bbox.width + size, bbox.height + size);
  ctx.clip();
  for (const { step, level } of marks) {
    const x = Math.round(u.valToPos(axis.of(step), 'x', true));
    const key = `${level} ${x}`;
    if (drawn.has(key) || x < bbox.left - 1 || x > bbox.left + bbox.width + 1) {
      continue;
    }
    drawn.add(key);
    ctx.strokeStyle = ctx.fillStyle = colorOf(level, colors);
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.55;
    ctx.beginPath();
    ctx.moveTo(x + 0.5, bbox.top);
    ctx.lineTo(x + 0.5, bbox.top + bbox.height);
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.beginPath();
    if (level === 'plain') {
      ctx.moveTo(x, bbox.top - size);
      ctx.lineTo(x + size, bbox.top - size / 2);
      ctx.lineTo(x, bbox.top);
    } else {
      // a shape of their own makes warnings recognizable without color
      ctx.moveTo(x, bbox.top - size);
      ctx.lineTo(x + size / 1.5, bbox.top);
      ctx.lineTo(x - size / 1.5, bbox.top);
    }
    ctx.fill();
  }
  ctx.restore();
}
