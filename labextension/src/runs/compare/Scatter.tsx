// Scatter plot of a setting and a result, one dot for each run.

import { useMemo, useRef, useState, type KeyboardEvent } from 'react';
import type { Translator } from '../../ui/translator';
import { axisChoices, axisOf, type Axis, type AxisChoice } from './axes';
import { colorOf } from './ParallelCoordinates';
import { RunTooltip } from './RunTooltip';
import { mainFigure } from './settings';
import { title, type Brief, type Group } from './runs-source';
import { useWidth } from '../../ui/useWidth';

const HEIGHT = 270;
const BOX = { left: 70, right: 18, top: 12, bottom: 40 };

interface ScatterProps {
  runs: readonly Brief[];
  hovered: string | null;
  onHover: (path: string | null) => void;
  onOpen?: (path: string) => void;
  /** Choices of a sweep. */
  choices?: Group['choices'];
  trans: Translator;
}

export function Scatter(props: ScatterProps): JSX.Element {
  const { runs, hovered, onHover, onOpen, trans } = props;
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const choices = useMemo(
    () => axisChoices(runs, trans, props.choices),
    [runs, trans, props.choices]
  );
  const [chosen, setChosen] = useState<{ x?: string; y?: string }>({});
  const first = choices.find(({ id }) => id.startsWith('settings.'));
  const x = axisFor(choices, runs, chosen.x, first?.id);
  const y = axisFor(choices, runs, chosen.y, `best.${mainFigure(runs)}`);
  const across = (place: number) =>
    BOX.left + place * (width - BOX.left - BOX.right);
  const down = (place: number) =>
    BOX.top + (1 - place) * (HEIGHT - BOX.top - BOX.bottom);
  const dots = runs.flatMap(run => {
    const [px, py] = [x?.place(run) ?? null, y?.place(run) ?? null];
    return px === null || py === null
      ? []
      : [{ run, left: across(px), top: down(py) }];
  });
  const tip = dots.find(({ run }) => run.path === hovered);
  const select = (which: 'x' | 'y', label: string, axis: Axis | null) => (
    <label>
      {label}{' '}
      <select
        value={axis?.id ?? ''}
        onChange={event =>
          setChosen({ ...chosen, [which]: event.target.value })
        }
      >
        {choices.map(choice => (
          <option key={choice.id} value={choice.id}>
            {choice.label}
          </option>
        ))}
      </select>
    </label>
  );
  const open = (path: string) => (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      onOpen?.(path);
    }
  };

  return (
    <div className="labdl-scatter">
      <div className="labdl-compare-bar">
        {select('x', trans.__('X axis'), x)}
        {select('y', trans.__('Y axis'), y)}
        <span className="labdl-compare-count">
          {dots.length < runs.length &&
            trans.__(
              '%1 of %2 runs have both values',
              dots.length,
              runs.length
            )}
        </span>
      </div>
      <div className="labdl-parallel-frame" ref={frame}>
        {width > 0 && x && y && (
          <svg
            width={width}
            height={HEIGHT}
            role="group"
            aria-label={trans.__(
              '%1 against %2 of %3 runs',
              y.label,
              x.label,
              dots.length
            )}
          >
            <g className="labdl-scatter-axes">
              {x.ticks.map(tick => (
                <g
                  key={tick.label}
                  transform={`translate(${across(tick.at)} ${HEIGHT - BOX.bottom})`}
                >
                  <path d={`M0 0V${BOX.top + BOX.bottom - HEIGHT}`} />
                  <text y={16} textAnchor="middle">
                    {tick.label}
                  </text>
                </g>
              ))}
              {y.ticks.map(tick => (
                <g
                  key={tick.label}
                  transform={`translate(${BOX.left} ${down(tick.at)})`}
                >
                  <path d={`M0 0H${width - BOX.left - BOX.right}`} />
                  <text x={-8} dy="0.32em" textAnchor="end">
                    {tick.label}
                  </text>
                </g>
              ))}
              <text
                x={(width + BOX.left) / 2}
                y={HEIGHT - 5}
                textAnchor="middle"
              >
                {x.label}
              </text>
              <text
                transform={`translate(13 ${HEIGHT / 2}) rotate(-90)`}
                textAnchor="middle"
              >
                {y.label}
              </text>
            </g>
            {dots.map(({ run, left, top }) => (
              <circle
                key={run.path}
                className="labdl-scatter-dot"
                cx={left}
                cy={top}
                r={run.path === hovered ? 7 : 4.5}
                style={{ fill: colorOf(run, y) }}
                tabIndex={0}
                role="img"
                aria-label={title(run)}
                onPointerEnter={() => onHover(run.path)}
                onPointerLeave={() => onHover(null)}
                onFocus={() => onHover(run.path)}
                onBlur={() => onHover(null)}
                onKeyDown={open(run.path)}
                onDoubleClick={() => onOpen?.(run.path)}
              />
            ))}
          </svg>
        )}
        {tip && x && y && (
          <RunTooltip run={tip.run} axes={[x, y]} at={tip} width={width} />
        )}
      </div>
    </div>
  );
}

function axisFor(
  choices: readonly AxisChoice[],
  runs: readonly Brief[],
  chosen: string | undefined,
  usual: string | undefined
): Axis | null {
  const choice =
    choices.find(({ id }) => id === chosen) ??
    choices.find(({ id }) => id === usual) ??
    choices[0];
  return choice ? axisOf(choice, runs) : null;
}
