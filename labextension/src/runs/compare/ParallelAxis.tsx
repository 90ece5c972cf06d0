// One axis of the parallel coordinates, on which a range can be selected.

import { useRef, type PointerEvent } from 'react';
import type { Translator } from '../../ui/translator';
import type { Axis } from './axes';
import { filterByBrushes, rangeAfter, type Brushes } from './brushing';

/** Half the width of the strip that takes pointer events. */
const REACH = 14;
/** A drag of fewer pixels counts as a click. */
const STILL = 3;

interface ParallelAxisProps {
  axis: Axis;
  x: number;
  /** Distance to the next axis in pixels. */
  room: number;
  top: number;
  bottom: number;
  brushes: Brushes;
  onBrush: (brushes: Brushes) => void;
  trans: Translator;
}

export function ParallelAxis(props: ParallelAxisProps): JSX.Element {
  const { axis, x, room, top, bottom, brushes, onBrush, trans } = props;
  const begun = useRef<number | null>(null);
  const range = brushes.get(axis.id);
  const down = (place: number) => top + (1 - place) * (bottom - top);
  const placeAt = (event: PointerEvent<SVGElement>) => {
    const box = event.currentTarget.ownerSVGElement?.getBoundingClientRect();
    return 1 - (event.clientY - (box?.top ?? 0) - top) / (bottom - top);
  };
  const stretch = (event: PointerEvent<SVGElement>) => {
    if (begun.current === null) {
      return;
    }
    const to = placeAt(event);
    const isStill = Math.abs(to - begun.current) * (bottom - top) < STILL;
    onBrush(
      filterByBrushes(brushes, axis.id, isStill ? null : [begun.current, to])
    );
  };
  const characters = Math.max(6, Math.floor(room / 7));

  return (
    <g
      className="labdl-parallel-axis"
      data-axis={axis.id}
      transform={`translate(${x.toFixed(1)} 0)`}
      tabIndex={0}
      role="group"
      aria-label={`${axis.label}. ${
        range
          ? trans.__(
              'Range from %1 % to %2 % of the axis. Escape clears it.',
              Math.round(range[0] * 100),
              Math.round(range[1] * 100)
            )
          : trans.__(
              'Arrow keys move the upper end of a range, Shift+arrow keys the lower end.'
            )
      }`}
      onKeyDown={event => {
        const next = rangeAfter(range, event.key, event.shiftKey);
        if (next !== undefined) {
          event.preventDefault();
          event.stopPropagation();
          onBrush(filterByBrushes(brushes, axis.id, next));
        }
      }}
    >
      <text className="labdl-parallel-label" y={14} textAnchor="middle">
        <title>{axis.label}</title>
        {shortened(axis.label, characters)}
      </text>
      <path className="labdl-parallel-line" d={`M0 ${top}V${bottom}`} />
      {axis.ticks.map(tick => (
        <g
          key={tick.label}
          transform={`translate(0 ${down(tick.at).toFixed(1)})`}
        >
          <path d="M-4 0H0" className="labdl-parallel-line" />
          <text x={-7} dy="0.32em" textAnchor="end">
            <title>{tick.label}</title>
            {shortened(tick.label, Math.max(7, characters - 6))}
          </text>
        </g>
      ))}
      {range && (
        <rect
          className="labdl-parallel-range"
          x={-7}
          width={14}
          y={down(range[1])}
          height={Math.max(2, down(range[0]) - down(range[1]))}
        />
      )}
      <rect
        className="labdl-parallel-reach"
        x={-REACH}
        width={2 * REACH}
        y={top - 8}
        height={bottom - top + 16}
        onPointerDown={event => {
          event.currentTarget.setPointerCapture?.(event.pointerId);
          begun.current = placeAt(event);
        }}
        onPointerMove={stretch}
        onPointerUp={event => {
          stretch(event);
          begun.current = null;
        }}
        onPointerCancel={() => {
          begun.current = null;
        }}
      >
        <title>{trans.__('Drag to mark a range, click to clear it')}</title>
      </rect>
    </g>
  );
}

function shortened(text: string, characters: number): string {
  return text.length > characters
    ? `${text.slice(0, Math.max(1, characters - 1))}…`
    : text;
}
