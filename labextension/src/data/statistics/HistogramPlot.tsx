// Histogram of sizes or lengths, with its range below it and the bin under the pointer above it.

import { useState } from 'react';
import type { Histogram } from '../../api/data';
import { formatCount, formatSignificant } from '../../ui/number-format';
import type { Translator } from '../../ui/translator';
import { problemText } from '../problem-text';

/** Bars for which there is room at least. */
const LEAST = 8;

interface HistogramPlotProps {
  histogram: Histogram;
  trans: Translator;
}

export function HistogramPlot(props: HistogramPlotProps): JSX.Element {
  const { histogram, trans } = props;
  const { unit, counts, integers } = histogram;
  // of whole numbers, the first and the last one of a bin
  const inner = integers ? 0.5 : 0;
  const first = histogram.edges.slice(0, -1).map(edge => edge + inner);
  const ends = histogram.edges.slice(1).map(edge => edge - inner);
  const name = problemText(trans, histogram.name);
  const [pointed, setPointed] = useState<number | null>(null);
  const most = Math.max(1, ...counts);
  const top = counts.indexOf(Math.max(...counts));
  const range = (from: number, to: number) =>
    from === to
      ? withUnit(from, unit)
      : trans.__('%1 to %2', formatSignificant(from), withUnit(to, unit));
  const words = (bin: number) =>
    trans.__(
      '%1: %2',
      range(first[bin], ends[bin]),
      trans._n('%2 sample', '%2 samples', counts[bin], formatCount(counts[bin]))
    );
  const last = counts.length - 1;
  // a single bar is no wall
  const margin = Math.max(0, (LEAST - counts.length) / 2);
  return (
    <figure className="labdl-data-histogram">
      <figcaption>
        <b>{name}</b>
        <span className="labdl-data-quiet">
          {counts.length > 0 && words(pointed ?? top)}
        </span>
      </figcaption>
      <svg
        viewBox={`${-margin} 0 ${counts.length + 2 * margin} 1`}
        preserveAspectRatio="none"
        role="img"
        aria-label={
          counts.length
            ? trans.__(
                '%1 from %2; most often %3',
                name,
                range(first[0], ends[last]),
                words(top)
              )
            : name
        }
        onPointerLeave={() => setPointed(null)}
      >
        {counts.map((count, bin) => (
          <g key={bin} data-pointed={bin === pointed || undefined}>
            <rect
              className="labdl-data-histogram-bar"
              x={bin + 0.06}
              width={0.88}
              y={1 - count / most}
              height={count / most}
            />
            <rect
              className="labdl-data-histogram-ground"
              x={bin}
              width={1}
              y={0}
              height={1}
              onPointerEnter={() => setPointed(bin)}
            />
          </g>
        ))}
      </svg>
      <div className="labdl-data-histogram-range">
        {counts.length > 0 && first[0] !== ends[last] && (
          <span>{formatSignificant(first[0])}</span>
        )}
        {counts.length > 0 && <span>{withUnit(ends[last], unit)}</span>}
      </div>
    </figure>
  );
}

function withUnit(value: number, unit: string): string {
  return unit
    ? `${formatSignificant(value)} ${unit}`
    : formatSignificant(value);
}
