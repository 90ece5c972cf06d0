// Texts about a run that several views use.

import { formatDuration, formatSetting } from '../../ui/number-format';
import type { Value } from './settings';
import type { Brief } from './runs-source';

/** Text of a setting; a dash where a run does not have it. */
export function settingLabel(value: Value | undefined): string {
  if (value === undefined) {
    return '–';
  }
  return typeof value === 'number' ? formatSetting(value, 6) : String(value);
}

/** "3 / 10", or the known part of it. */
export function epochLabel({ epoch, epochs }: Brief): string {
  const [done, all] = [epoch, epochs].map(n => (n === null ? '–' : String(n)));
  return epochs === null ? done : `${done} / ${all}`;
}

export function secondsLabel(seconds: number | null): string {
  return seconds === null ? '–' : formatDuration(seconds);
}

/** Day and minute of the start, without year and second. */
export function startLabel(time: number | null): string {
  return time === null
    ? '–'
    : new Date(time * 1000).toLocaleString(undefined, {
        month: 'short',
        day: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23'
      });
}
