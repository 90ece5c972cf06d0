// Container of one plot: follows size and theme, shows the tooltip, and handles keys.

import {
  useEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type MutableRefObject
} from 'react';
import { markText } from '../dashboard/mark-text';
import { Plot, type Hover } from './plot';
import type { PlotContent, Steps } from './plot-content';
import type { PlotStyle } from './plot-style';
import { readColors, watchTheme, type ChartColors } from './theme';
import type { Translator } from '../../ui/translator';
import type { XAxis } from './x-axis';

/** Properties shared by all charts of a dashboard. */
export interface ChartView {
  readonly syncKey: string;
  readonly axis: XAxis;
  /** Zoomed range of steps; null for all. */
  readonly zoom: Steps | null;
  readonly setZoom: (steps: Steps | null) => void;
}

export interface TooltipLine {
  readonly text: string;
  /** Name of the line's color. */
  readonly curve?: string;
}

export interface PlotFrameProps extends ChartView {
  content: PlotContent;
  style: PlotStyle;
  height: number;
  label: string;
  logarithmic?: boolean;
  tick?: (value: number) => string;
  range?: readonly [number | null, number | null];
  /** Tooltip lines of a step. */
  read: (step: number) => readonly TooltipLine[];
  /** Receives the plot, for export as an image. */
  plot?: MutableRefObject<Plot | null>;
  trans: Translator;
}

/** Maximum number of marks in a tooltip. */
const TOLD = 6;

export function PlotFrame(props: PlotFrameProps): JSX.Element {
  const { content, style, height, syncKey, axis, zoom, trans } = props;
  const { logarithmic = false } = props;
  const [hover, setHover] = useState<Hover | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const colorNames = style.kind === 'metric' ? '' : style.colors.join();

  useEffect(() => {
    const element = frame.current;
    if (!element) {
      return;
    }
    let colors: ChartColors = readColors(element);
    const size = () => ({
      width: Math.max(1, element.clientWidth),
      height: latest.current.height
    });
    const created = new Plot(element, size(), {
      style: latest.current.style,
      syncKey,
      axis,
      logarithmic,
      range: () => latest.current.range,
      tick: latest.current.tick,
      colors: () => colors,
      hover: setHover,
      zoom: steps => latest.current.setZoom(steps)
    });
    created.show(latest.current.content);
    created.setWindow(latest.current.zoom);
    plot.current = created;
    const observer = new ResizeObserver(() => {
      // A hidden panel has no width: keep the old size until it is visible again.
      if (element.clientWidth > 0) {
        created.resize(size().width, size().height);
      }
    });
    observer.observe(element);
    const unwatch = watchTheme(() => {
      colors = readColors(element);
      created.recolor();
    });
    return () => {
      unwatch();
      observer.disconnect();
      created.destroy();
      plot.current = null;
      setHover(null);
    };
  }, [syncKey, logarithmic, axis, style.kind, colorNames, height]);

  useEffect(() => plot.current?.show(content), [content]);
  useEffect(() => plot.current?.setWindow(zoom), [zoom]);
  useEffect(() => {
    if (props.plot) {
      props.plot.current = plot.current;
    }
  });

  const pressed = (event: KeyboardEvent) => {
    const { extent } = content;
    const shown = zoom ?? extent;
    const by = event.shiftKey ? 0.1 : 0.01;
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      plot.current?.moveCursor(event.key === 'ArrowLeft' ? -by : by);
    } else if ((event.key === '+' || event.key === '-') && shown && extent) {
      const [from, to] = shown;
      const middle = hover?.step ?? (from + to) / 2;
      const factor = event.key === '+' ? 0.5 : 2;
      const next: Steps = [
        Math.max(extent[0], middle - (middle - from) * factor),
        Math.min(extent[1], middle + (to - middle) * factor)
      ];
      const isAll = next[0] <= extent[0] && next[1] >= extent[1];
      props.setZoom(isAll ? null : next);
    } else if (event.key === 'Escape' && (hover || zoom)) {
      plot.current?.leaveCursor();
      props.setZoom(null);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div className="labdl-chart-plot" style={{ minHeight: height }}>
      <div
        ref={frame}
        role="img"
        aria-label={props.label}
        aria-roledescription={trans.__('chart')}
        tabIndex={0}
        onKeyDown={pressed}
        onBlur={() => plot.current?.leaveCursor()}
      />
      {hover && (
        <Tooltip
          hover={hover}
          height={height}
          frame={props}
          isRead={document.activeElement === frame.current}
          trans={trans}
        />
      )}
    </div>
  );
}

function Tooltip({
  hover,
  height,
  frame,
  isRead,
  trans
}: {
  hover: Hover;
  height: number;
  frame: PlotFrameProps;
  /** Whether the cursor is moved by keys; then screen readers announce the values. */
  isRead: boolean;
  trans: Translator;
}): JSX.Element {
  const [from, to] = hover.near;
  const marks = frame.content.marks.filter(
    ({ step }) => step >= from && step <= to
  );
  const side =
    hover.left > hover.width / 2
      ? { right: hover.width - hover.left + 12 }
      : { left: hover.left + 12 };
  return (
    <div
      className="labdl-chart-tooltip"
      role={isRead ? 'status' : undefined}
      style={{ ...side, top: Math.max(0, Math.min(hover.top, height - 90)) }}
    >
      {frame.read(hover.step).map(({ text, curve }, row) => (
        <div
          key={text}
          data-curve={curve}
          className={row ? undefined : 'labdl-chart-tooltip-step'}
        >
          {text}
        </div>
      ))}
      {marks.slice(0, TOLD).map((mark, i) => (
        <div
          key={i}
          className="labdl-chart-tooltip-mark"
          data-level={mark.level}
        >
          {markText(mark, trans)}
        </div>
      ))}
      {marks.length > TOLD && (
        <div>{trans._n('and %1 more', 'and %1 more', marks.length - TOLD)}</div>
      )}
    </div>
  );
}
