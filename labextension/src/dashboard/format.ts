// Numbers and durations as people read them.

/** Four significant digits; very small and very large figures in powers of ten. */
export function figure(value: number | null | undefined): string {
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

/** A setting as a person types it: 0.003, 1e-7. */
export function setting(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** A moment (unix seconds) as the clock on the wall showed it. */
export function moment(time: number): string {
  return new Date(time * 1000).toLocaleTimeString();
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** 7 → "0:07", 83 → "1:23", 3723 → "1:02:03". */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (n: number) => String(n).padStart(2, '0');
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  return hours
    ? `${hours}:${two(minutes)}:${two(whole % 60)}`
    : `${minutes}:${two(whole % 60)}`;
}
