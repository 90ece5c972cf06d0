// Chart of one metric of several runs.

import { useEffect, useMemo, useRef, useState } from 'react';
import { formatNumber } from '../../ui/number-format';
import { readColors, watchTheme } from '../charts/theme';
import type { Translator } from '../../ui/translator';
import { resolveLook, type Look } from './line-styles';
import {
  valueAt,
  type OverlayLine,
  type OverlaySettings
} from './overlay-data';
import { OverlayPlot, type LineLook, type OverlayHover } from './overlay-plot';
import { Swatch } from './Swatch';

const HEIGHT = 230;
/** Maximum number of lines in the tooltip. */
const MOST_VALUES = 12;

interface OverlayChartProps {
  figure: string;
  lines: readonly OverlayLine[];
  settings: OverlaySettings;
  looks: ReadonlyMap<string, Look>;
  names: ReadonlyMap<string, string>;
  hovered: string | null;
  onHover: (owner: string | null) => void;
  syncKey: string;
  trans: Translator;
}

export function OverlayChart(props: OverlayChartProps): JSX.Element {
  const { lines, settings, looks, hovered, onHover, syncKey, trans } = props;
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<OverlayPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [hover, setHover] = useState<OverlayHover | null>(null);
  // a different set of lines needs a new plot
  const shape = lines.map(({ owner, role }) => `${owner} ${role}`).join('\n');
  const look = [...looks].map(([path, l]) => `${path} ${l.color} ${l.dash}`).join('\n'); // prettier-ignore

  useEffect(() => {
    const element = frame.current;
    if (!element) {
      return;
    }
    let colors = readColors(element);
    let drawn = resolvedLooks(element, latest.current.looks);
    const created = new OverlayPlot(
      element,
      { width: Math.max(1, element.clientWidth), height: HEIGHT },
      latest.current.lines,
      {
        syncKey,
        isLog: settings.isLog,
        colors: () => colors,
        looks: () => drawn,
        hover: at => {
          setHover(at);
          latest.current.onHover(at?.owner ?? null);
        }
      }
    );
    plot.current = created;
    created.highlight(latest.current.hovered);
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) {
        created.resize(element.clientWidth, HEIGHT);
      }
    });
    observer.observe(element);
    const unwatch = watchTheme(() => {
      colors = readColors(element);
      drawn = resolvedLooks(element, latest.current.looks);
      created.recolor();
    });
    return () => {
      unwatch();
      observer.disconnect();
      created.destroy();
      plot.current = null;
      setHover(null);
    };
  }, [shape, look, syncKey, settings.isLog, settings.across]);

  useEffect(() => {
    if (plot.current?.fits(lines)) {
      plot.current.show(lines);
    }
  }, [lines]);
  useEffect(() => plot.current?.highlight(hovered), [hovered]);

  return (
    <figure className="labdl-overlay-chart" data-figure={props.figure}>
      <figcaption>
        <b>{props.figure}</b>
        <button
          type="button"
          title={trans.__('Reset the zoom')}
          aria-label={trans.__('Reset the zoom of %1', props.figure)}
          onClick={() => plot.current?.resetZoom()}
        >
          ↺
        </button>
      </figcaption>
      <div
        className="labdl-overlay-plot"
        role="img"
        aria-label={trans.__(
          '%1 of %2 runs',
          props.figure,
          new Set(lines.map(line => line.owner)).size
        )}
        onPointerLeave={() => onHover(null)}
      >
        {lines.length ? (
          <div ref={frame} />
        ) : (
          <p className="labdl-runs-quiet" style={{ height: HEIGHT }}>
            {trans.__('There are no values yet.')}
          </p>
        )}
        {hover && <Values {...props} hover={hover} />}
      </div>
    </figure>
  );
}

function resolvedLooks(
  element: Element,
  looks: ReadonlyMap<string, Look>
): ReadonlyMap<string, LineLook> {
  return new Map(
    [...looks].map(([owner, { color, dash }]) => [
      owner,
      { color: resolveLook(element, color), dash }
    ])
  );
}

function Values(
  props: OverlayChartProps & { hover: OverlayHover }
): JSX.Element {
  const { hover, lines, looks, names, settings, trans } = props;
  const values = useMemo(
    () =>
      lines
        .filter(({ role }) => role === 'train' || role === 'validation')
        .map(line => ({ line, value: valueAt(line.curve, hover.x) }))
        .filter(({ value }) => Number.isFinite(value))
        .sort((a, b) => a.value - b.value),
    [lines, hover.x]
  );
  const side =
    hover.left > hover.width / 2
      ? { right: hover.width - hover.left + 14 }
      : { left: hover.left + 14 };
  const place = {
    step: trans.__('step %1', Math.round(hover.x).toLocaleString()),
    epoch: trans.__('epoch %1', hover.x.toFixed(2)),
    time: trans.__('%1 s', hover.x.toPrecision(4))
  }[settings.across];
  return (
    <div className="labdl-run-tip" style={{ ...side, top: 8 }}>
      <b>{place}</b>
      {values.slice(0, MOST_VALUES).map(({ line, value }) => (
        <div
          key={`${line.owner} ${line.role}`}
          data-near={line.owner === hover.owner || undefined}
        >
          <Swatch look={looks.get(line.owner)} />
          <span>{names.get(line.owner) ?? line.owner}</span>
          {settings.part === 'both' && (
            <small>
              {line.role === 'train'
                ? trans.__('train')
                : trans.__('validation')}
            </small>
          )}
          <b>{formatNumber(value)}</b>
        </div>
      ))}
      {values.length > MOST_VALUES && (
        <small>{trans.__('and %1 more', values.length - MOST_VALUES)}</small>
      )}
    </div>
  );
}
