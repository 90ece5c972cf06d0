// Histogram of values as small bars, with the range below.
import type { HistogramData } from '../../api/inspection';
import {
  formatCount as countText,
  formatSignificant
} from '../../ui/number-format';
import type { Translator } from '../../ui/translator';

export type { HistogramData };

export interface HistogramProps {
  data: HistogramData;
  /** Name of the values. */
  name: string;
  /** Hides the range below, where there is little room. */
  bare?: boolean;
  trans: Translator;
}

export function Histogram({ data, name, bare, trans }: HistogramProps) {
  const words = inWords(data, name, trans);
  const { low, high, counts } = data;
  const most = Math.max(...counts, 1);
  // A single value is drawn in the middle, as a narrow bar.
  const [width, shift] = counts.length > 1 ? [100 / counts.length, 0] : [4, 48];
  const zero = low < 0 && high > 0 ? (-low / (high - low)) * 100 : null;
  return (
    <div className="labdl-histogram">
      <svg
        viewBox="0 0 100 40"
        preserveAspectRatio="none"
        role="img"
        aria-label={words}
      >
        <title>{words}</title>
        {/* background, so that the tooltip also appears between the bars */}
        <rect className="labdl-histogram-ground" width="100" height="40" />
        {counts.map((count, index) => {
          // a minimum height keeps small counts visible
          const height = count && Math.max((count / most) * 39, 0.8);
          return (
            <rect
              key={index}
              x={shift + index * width}
              y={40 - height}
              width={width * 0.92}
              height={height}
            />
          );
        })}
        {zero !== null && (
          <line x1={zero} x2={zero} y1="0" y2="40" className="labdl-zero" />
        )}
      </svg>
      {!bare && (
        <div className="labdl-histogram-range" aria-hidden="true">
          <span>{formatSignificant(low)}</span>
          {low !== high && <span>{formatSignificant(high)}</span>}
        </div>
      )}
    </div>
  );
}

/** Description of the histogram for tooltip and screen reader. */
function inWords(
  { low, high, counts }: HistogramData,
  name: string,
  trans: Translator
): string {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (low === high) {
    return trans.__(
      '%1: all %2 values are %3',
      name,
      countText(all),
      formatSignificant(low)
    );
  }
  const at = counts.indexOf(Math.max(...counts));
  const edge = (bin: number) =>
    formatSignificant(low + ((high - low) * bin) / counts.length);
  return trans.__(
    '%1: %2 values from %3 to %4, mode between %5 and %6',
    name,
    countText(all),
    formatSignificant(low),
    formatSignificant(high),
    edge(at),
    edge(at + 1)
  );
}
