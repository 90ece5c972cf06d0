// Divider between canvas and code, resized by dragging or with the arrow keys.
import { PointerEvent, useRef } from 'react';

import { NARROWEST, WIDEST, within } from './code-pane';
import { useEditorContext } from '../context';

const STEP = 24;

export interface CodeDividerProps {
  width: number;
  onResize: (width: number) => void;
}

export function CodeDivider({ width, onResize }: CodeDividerProps) {
  const { trans } = useEditorContext();
  const start = useRef<{ x: number; width: number } | null>(null);

  const grab = (event: PointerEvent<HTMLDivElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    start.current = { x: event.clientX, width };
  };
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (start.current) {
      onResize(within(start.current.width + start.current.x - event.clientX));
    }
  };
  const drop = () => {
    start.current = null;
  };

  return (
    <div
      className="labdl-code-divider"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={trans.__('Width of the code panel')}
      aria-valuenow={width}
      aria-valuemin={NARROWEST}
      aria-valuemax={WIDEST}
      onPointerDown={grab}
      onPointerMove={drag}
      onPointerUp={drop}
      onPointerCancel={drop}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft' || key === 'ArrowRight') {
          onResize(within(width + (key === 'ArrowLeft' ? STEP : -STEP)));
        }
      }}
    />
  );
}
