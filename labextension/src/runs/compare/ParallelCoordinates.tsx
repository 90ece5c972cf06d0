// Parallel coordinates: one line for each run over axes of settings and results.

import { useMemo, useRef, useState, type PointerEvent } from 'react';
import type { Translator } from '../../ui/translator';
import { axisChoices, axisOf, type Axis } from './axes';
import type { Brushes } from './brushing';
import { ParallelAxis } from './ParallelAxis';
import { ColorScale } from './ColorScale';
import { RunTooltip } from './RunTooltip';
import { mainFigure } from './settings';
import type { Brief, Group } from './runs-source';
import { useWidth } from '../../ui/useWidth';
import { AxisMenu, useAxes } from './useAxes';

const HEIGHT = 260;
const TOP = 34;
const BOTTOM = 22;
const SIDE = 62;
/** Maximum distance of the pointer to a line that it selects, in pixels. */
const NEAR = 8;

export interface ParallelProps {
  /** Runs that determine the axes. */
  runs: readonly Brief[];
  /** Runs that are drawn. */
  inside: readonly Brief[];
  brushes: Brushes;
  onBrush: (brushes: Brushes) => void;
  hovered: string | null;
  onHover: (path: string | null) => void;
  onOpen?: (path: string) => void;
  /** Choices of a sweep. */
  choices?: Group['choices'];
  /** Metric that colors the lines by default. */
  result?: string | null;
  trans: Translator;
}

export function ParallelCoordinates(props: ParallelProps): JSX.Element {
  const { runs, inside, brushes, hovered, onHover, trans } = props;
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const choices = useMemo(
    () => axisChoices(runs, trans, props.choices),
    [runs, trans, props.choices]
  );
  const main = `best.${props.result ?? mainFigure(runs)}`;
  const [asked, setResult] = useState<string | null>(null);
  const resultId = asked ?? main;
  const { shown, toggle } = useAxes(choices, main);
  const axes = useMemo(
    () => shown.map(choice => axisOf(choice, runs)),
    [shown, runs]
  );
  const result = useMemo(() => {
    const choice = choices.find(({ id }) => id === resultId);
    return choice ? axisOf(choice, runs) : null;
  }, [choices, resultId, runs]);
  const [tip, setTip] = useState<{ left: number; top: number } | null>(null);

  const across = (i: number) =>
    axes.length > 1
      ? SIDE + (i * (width - 2 * SIDE)) / (axes.length - 1)
      : width / 2;
  const down = (place: number | null) =>
    place === null ? HEIGHT - 8 : TOP + (1 - place) * (HEIGHT - TOP - BOTTOM);
  const points = (run: Brief) =>
    axes.map((axis, i) => [across(i), down(axis.place(run))] as const);

  const find = (event: PointerEvent<SVGSVGElement>) => {
    if (event.buttons) {
      return;
    }
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const found = nearest(inside, points, x, y);
    onHover(found);
    setTip(found ? { left: x, top: y } : null);
  };
  const hoveredRun = inside.find(run => run.path === hovered);

  return (
    <div className="labdl-parallel">
      <div className="labdl-compare-bar">
        <AxisMenu
          choices={choices}
          shown={shown}
          toggle={toggle}
          trans={trans}
        />
        <ColorScale
          choices={choices}
          result={result}
          id={resultId}
          onChange={setResult}
          trans={trans}
        />
        <span className="labdl-compare-count">
          {brushes.size > 0 && (
            <>
              {trans.__('%1 of %2 runs', inside.length, runs.length)}{' '}
              <button type="button" onClick={() => props.onBrush(new Map())}>
                {trans.__('Clear ranges')}
              </button>
            </>
          )}
        </span>
      </div>
      <div className="labdl-parallel-frame" ref={frame}>
        {axes.length < 2 ? (
          <p className="labdl-runs-quiet">
            {trans.__(
              'Nothing to compare yet: these runs have the same settings.'
            )}
          </p>
        ) : (
          width > 0 && (
            <svg
              width={width}
              height={HEIGHT}
              role="group"
              aria-label={trans.__(
                'Parallel coordinates of %1 runs',
                runs.length
              )}
              onPointerMove={find}
              onPointerLeave={() => {
                onHover(null);
                setTip(null);
              }}
              onDoubleClick={() =>
                hoveredRun && props.onOpen?.(hoveredRun.path)
              }
            >
              <g
                className="labdl-parallel-lines"
                data-hovering={hoveredRun ? true : undefined}
              >
                {inside.map(run => (
                  <Line
                    key={run.path}
                    path={pathOf(points(run))}
                    color={colorOf(run, result)}
                    isHovered={run.path === hovered}
                  />
                ))}
              </g>
              {axes.map((axis, i) => (
                <ParallelAxis
                  key={axis.id}
                  axis={axis}
                  x={across(i)}
                  room={(width - 2 * SIDE) / Math.max(1, axes.length - 1)}
                  top={TOP}
                  bottom={HEIGHT - BOTTOM}
                  brushes={brushes}
                  onBrush={props.onBrush}
                  trans={trans}
                />
              ))}
            </svg>
          )
        )}
        {hoveredRun && tip && (
          <RunTooltip run={hoveredRun} axes={axes} at={tip} width={width} />
        )}
      </div>
    </div>
  );
}

interface LineProps {
  path: string;
  color: string;
  isHovered: boolean;
}

function Line({ path, color, isHovered }: LineProps): JSX.Element {
  return (
    <path
      d={path}
      style={{ stroke: color }}
      data-hovered={isHovered || undefined}
    />
  );
}

function pathOf(points: readonly (readonly [number, number])[]): string {
  return `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}`;
}

/** Color between those of low and high results, which the style sheet defines. */
export function colorOf(run: Brief, result: Axis | null): string {
  const place = result?.place(run) ?? null;
  if (place === null) {
    return 'var(--labdl-result-none)';
  }
  const [from, to, part] =
    place < 0.5
      ? ['low', 'middle', place * 2]
      : ['middle', 'high', place * 2 - 1];
  return `color-mix(in oklab, var(--labdl-result-${to}) ${Math.round(Number(part) * 100)}%, var(--labdl-result-${from}))`;
}

/** Run whose line is nearest to a point. */
export function nearest(
  runs: readonly Brief[],
  points: (run: Brief) => readonly (readonly [number, number])[],
  x: number,
  y: number
): string | null {
  let [found, distance]: [string | null, number] = [null, NEAR];
  for (const run of runs) {
    const line = points(run);
    const right = line.findIndex(point => point[0] >= x);
    if (right <= 0) {
      continue;
    }
    const [[x0, y0], [x1, y1]] = [line[right - 1], line[right]];
    const away =
      Math.abs(y0 + ((y1 - y0) * (x - x0)) / (x1 - x0) - y) *
      Math.cos(Math.atan2(y1 - y0, x1 - x0));
    if (away < distance) {
      [found, distance] = [run.path, away];
    }
  }
  return found;
}
