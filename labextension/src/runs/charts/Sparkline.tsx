// Tiny line chart of a few numbers; values that are not finite leave a gap.

const WIDTH = 60;
const HEIGHT = 14;

export interface SparklineProps {
  values: readonly number[];
  isLogarithmic?: boolean;
}

export function Sparkline({ values, isLogarithmic }: SparklineProps) {
  return (
    <svg
      className="labdl-sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      aria-hidden="true"
    >
      <path d={lineOf(values, isLogarithmic ?? false)} />
    </svg>
  );
}

/** SVG path of the line; a single value is a short dash in the middle. */
export function lineOf(
  values: readonly number[],
  isLogarithmic: boolean
): string {
  const shown = isLogarithmic
    ? values.map(value => (value > 0 ? Math.log10(value) : NaN))
    : values;
  const finite = shown.filter(Number.isFinite);
  const low = Math.min(...finite);
  const span = Math.max(...finite) - low;
  const step = WIDTH / Math.max(1, shown.length - 1);
  let isOpen = false;
  let path = '';
  shown.forEach((value, index) => {
    if (!Number.isFinite(value)) {
      isOpen = false;
      return;
    }
    const part = span > 0 ? (value - low) / span : 0.5;
    const y = (HEIGHT - 1 - part * (HEIGHT - 2)).toFixed(1);
    if (shown.length === 1) {
      path = `M${WIDTH / 2 - 3} ${y}h6`;
      return;
    }
    path += `${isOpen ? 'L' : 'M'}${(index * step).toFixed(1)} ${y}`;
    isOpen = true;
  });
  return path;
}
