// Formats numbers and durations.

/** Four significant digits; scientific notation for very small and very large numbers. */
export function formatNumber(value: number | null | undefined): string {
  if (value === undefined) {
    return '–';
  }
  if (value === null || Number.isNaN(value)) {
    return 'NaN';
  }
  if (!Number.isFinite(value)) {
    return value > 0 ? '∞' : '−∞';
  }
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
    return value.toExponential(2);
  }
  return size >= 1000
    ? Math.round(value).toLocaleString('en')
    : value.toPrecision(4);
}

/** A setting in short form: 0.003, 1e-7. */
export function formatSetting(value: number, digits = 4): string {
  const short = Number(value.toPrecision(digits));
  const isTiny = short !== 0 && Math.abs(short) < 1e-4;
  return isTiny ? short.toExponential() : String(short);
}

/** A time (unix seconds) as the local time of day. */
export function formatTime(time: number): string {
  return new Date(time * 1000).toLocaleTimeString();
}

export function formatCount(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** 7 → "0:07", 83 → "1:23", 3723 → "1:02:03". */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (n: number) => String(n).padStart(2, '0');
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  return hours
    ? `${hours}:${two(minutes)}:${two(whole % 60)}`
    : `${minutes}:${two(whole % 60)}`;
}

/** Three significant digits by default, with a proper minus sign. */
export function formatSignificant(value: number | null, digits = 3): string {
  if (value === null) {
    return '–';
  }
  const size = Math.abs(value);
  const isPlain = size === 0 || (size >= 0.0001 && size < 1e6);
  const text = isPlain
    ? String(Number(value.toPrecision(digits)))
    : value.toExponential(digits - 1).replace(/\.?0*e/, 'e');
  return text.replace('e+', 'e').replace(/-/g, '−');
}

/** "0 %", "12.5 %"; only exact values become 0 % or 100 %. */
export function formatPercent(share: number | null): string {
  if (share === null) {
    return '–';
  }
  const percent = share * 100;
  const text =
    percent > 0 && percent < 0.1
      ? '< 0.1'
      : percent < 100 && percent > 99.9
        ? '> 99.9'
        : String(Number(percent.toFixed(1)));
  return `${text} %`;
}

const UNITS: [number, string][] = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k']
];

/** "160", "12.3 k", "1.2 M": three digits are enough on a node. */
export function formatShortCount(count: number): string {
  for (const [size, unit] of UNITS) {
    // 999 950 would round to "1000 k"
    if (count >= size * 0.99995 && count >= 1000) {
      const value = count / size;
      return `${value.toFixed(value < 99.95 ? 1 : 0).replace(/\.0$/, '')} ${unit}`;
    }
  }
  return String(count);
}

/** "0 B", "2.6 kB". */
export function formatBytes(bytes: number): string {
  const text = formatShortCount(bytes);
  return /\d$/.test(text) ? `${text} B` : `${text}B`;
}
