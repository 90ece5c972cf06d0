// Heat map of histograms: steps horizontally, values vertically, counts as colors.

import { useEffect, useMemo, useRef, useState, type MouseEvent } from 'react';
import {
  formatCount,
  formatSignificant,
  formatPercent
} from '../../ui/number-format';
import { viridis, VIRIDIS_BAR } from '../charts/viridis';
import type { Translator } from '../../ui/translator';
import { heatMap, pointAt, type HeatColumn, type HeatPoint } from './heat-map';

// size of the canvas, which the style sheet stretches
const WIDTH = 900;
const HEIGHT = 240;

export interface HeatMapProps {
  columns: readonly HeatColumn[];
  /** Index of the marked column. */
  at: number;
  choose: (at: number) => void;
  /** Name of the values. */
  name: string;
  trans: Translator;
}

export function HeatMap(props: HeatMapProps): JSX.Element {
  const { columns, at, choose, name, trans } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [point, setPoint] = useState<HeatPoint | null>(null);
  const map = useMemo(() => heatMap(columns), [columns]);

  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) {
      return; // no canvas in this browser: the bars below show one moment
    }
    context.clearRect(0, 0, WIDTH, HEIGHT);
    for (const { left, right, top, bottom, share } of map.cells) {
      if (share > 0) {
        context.fillStyle = viridis(part(share, map.most));
        const x = Math.floor(left * WIDTH);
        // a single value has no height of its own
        const height = Math.max(2, Math.ceil((bottom - top) * HEIGHT));
        const y = Math.min(HEIGHT - height, Math.floor(top * HEIGHT));
        context.fillRect(x, y, Math.ceil(right * WIDTH) - x, height);
      }
    }
  }, [map]);

  const under = (event: MouseEvent<HTMLCanvasElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    return pointAt(
      columns,
      map,
      (event.clientX - box.left) / box.width,
      (event.clientY - box.top) / box.height
    );
  };
  const { borders, low, high, most } = map;
  const marked = columns[at];
  return (
    <div className="labdl-heat">
      <div className="labdl-heat-body">
        <div className="labdl-heat-axis" aria-hidden="true">
          <span>{formatSignificant(high)}</span>
          {low < 0 && high > 0 && (
            <span
              className="labdl-heat-zero"
              style={{ top: `${(high / (high - low)) * 100}%` }}
            >
              0
            </span>
          )}
          <span>{formatSignificant(low)}</span>
        </div>
        <div className="labdl-heat-frame">
          <canvas
            ref={canvas}
            width={WIDTH}
            height={HEIGHT}
            role="img"
            aria-label={trans.__(
              '%1 over steps %2 to %3, from %4 to %5',
              name,
              formatCount(columns[0]?.step ?? 0),
              formatCount(columns[columns.length - 1]?.step ?? 0),
              formatSignificant(low),
              formatSignificant(high)
            )}
            onMouseMove={event => setPoint(under(event))}
            onMouseLeave={() => setPoint(null)}
            onClick={event => {
              const found = under(event);
              if (found) {
                choose(found.column);
              }
            }}
          />
          {marked && (
            <span
              className="labdl-heat-mark"
              aria-hidden="true"
              style={{
                left: `${((borders[at] + borders[at + 1]) / 2) * 100}%`
              }}
            />
          )}
        </div>
      </div>
      <div className="labdl-heat-foot">
        <span className="labdl-tab-note labdl-heat-note">
          {point
            ? pointWords(point, trans)
            : trans.__(
                'Steps %1 to %2 from left to right; point at the map to read it.',
                formatCount(columns[0]?.step ?? 0),
                formatCount(columns[columns.length - 1]?.step ?? 0)
              )}
        </span>
        <span className="labdl-heat-key" aria-hidden="true">
          {formatPercent(0)}
          <span style={{ background: VIRIDIS_BAR }} />
          {formatPercent(most)}
        </span>
      </div>
    </div>
  );
}

/** Palette position of a count; the square root keeps the tails visible beside a high peak. */
function part(share: number, most: number): number {
  return Math.sqrt(share / most);
}

function pointWords(
  { step, low, high, share }: HeatPoint,
  trans: Translator
): string {
  return low === high
    ? trans.__(
        'step %1: %3 of the values at %2',
        formatCount(step),
        formatSignificant(low),
        formatPercent(share)
      )
    : trans.__(
        'step %1: %4 of the values from %2 to %3',
        formatCount(step),
        formatSignificant(low),
        formatSignificant(high),
        formatPercent(share)
      );
}
